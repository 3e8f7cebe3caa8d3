/** What every server of the measurement answers. */
export const page = {
  items: [
    {
      phoneNumber: '+14155550142',
      source: 'opt_out' as const,
      reason: 'Asked not to be called again',
      createdAt: '2026-11-20T09:30:00.000Z',
    },
  ],
  page: 1,
  perPage: 20,
  column: 'created_at' as const,
  order: 'desc' as const,
};

export const added = (body: { phoneNumbers: string[] }) => ({
  added: body.phoneNumbers.length,
  alreadyListed: 0,
  rejected: [],
});

export const PATH = '/v1/calls/do-not-call';
export const QUERY = '?page=1&perPage=20';
