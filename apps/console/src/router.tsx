import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { Broken } from './parts/heading.tsx';
import { Shell } from './parts/shell.tsx';
import { textsOf } from './rules/search.ts';
import { CampaignsScreen } from './screens/campaigns.tsx';
import { isOfSeveral } from './session.ts';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <p className="p-4">There is no such page.</p>,
});
const under = () => root;

const routes = [
  createRoute({
    getParentRoute: under,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: '/campaigns', search: {} });
    },
  }),
  // Who comes back from the identity provider is signed in before any screen is shown.
  createRoute({
    getParentRoute: under,
    path: '/sign-in',
    beforeLoad: () => {
      throw isOfSeveral()
        ? redirect({ to: '/workspaces', replace: true })
        : redirect({ to: '/campaigns', search: {}, replace: true });
    },
  }),
  createRoute({
    getParentRoute: under,
    path: '/workspaces',
    component: lazyRouteComponent(() => import('./screens/workspaces.tsx'), 'WorkspacesScreen'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/members',
    component: lazyRouteComponent(() => import('./screens/members.tsx'), 'MembersScreen'),
    validateSearch: textsOf('q'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/keys',
    component: lazyRouteComponent(() => import('./screens/keys.tsx'), 'KeysScreen'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/campaigns',
    component: CampaignsScreen,
    validateSearch: textsOf('status', 'q'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/campaigns/new',
    component: lazyRouteComponent(() => import('./screens/new-campaign.tsx'), 'NewCampaignScreen'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/campaigns/new/$contactListId',
    component: lazyRouteComponent(() => import('./screens/new-campaign.tsx'), 'ListCampaignScreen'),
    validateSearch: textsOf('step', 'call'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/campaigns/$campaignId',
    component: lazyRouteComponent(() => import('./screens/campaign.tsx'), 'CampaignScreen'),
    validateSearch: textsOf('state', 'reason', 'q', 'contact'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/calls',
    component: lazyRouteComponent(() => import('./screens/calls.tsx'), 'CallsScreen'),
    validateSearch: textsOf('campaignId', 'outcome', 'status', 'direction', 'phoneNumber', 'agentId', 'contactId'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/calls/$roomId',
    component: lazyRouteComponent(() => import('./screens/call.tsx'), 'CallScreen'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/agents/$agentId',
    component: lazyRouteComponent(() => import('./screens/agent.tsx'), 'AgentScreen'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/limits',
    component: lazyRouteComponent(() => import('./screens/limits.tsx'), 'LimitsScreen'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/people/$phoneNumber',
    component: lazyRouteComponent(() => import('./screens/person.tsx'), 'PersonScreen'),
    validateSearch: textsOf('country'),
  }),
  createRoute({
    getParentRoute: under,
    path: '/lists/$kind',
    component: lazyRouteComponent(() => import('./screens/lists.tsx'), 'ListsScreen'),
    validateSearch: textsOf('q'),
  }),
];

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/console',
  defaultPreload: 'intent',
  // A number stands in an address as people write it.
  pathParamsAllowedCharacters: ['+'],
  defaultErrorComponent: Broken,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
