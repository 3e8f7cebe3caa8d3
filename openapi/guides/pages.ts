/** The pages of docs/ as readers are led through them: by part, each by its file's name. */
export const PARTS: Record<string, string[]> = {
  'To begin': ['get-started', 'telephony', 'agents'],
  Calling: ['console', 'contact-files', 'campaigns', 'calls', 'workflows', 'phone-numbers', 'knowledge-bases'],
  Programs: ['api', 'errors', 'webhooks', 'records'],
  'Running it': ['deployment', 'high-availability', 'operations', 'scale', 'security', 'compliance'],
  'How it is made': ['architecture', 'dialing', 'glossary'],
};
