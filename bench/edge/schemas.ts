const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const e164 = { type: 'string', pattern: '^\\+[1-9]\\d{6,14}$', minLength: 8, maxLength: 16 } as const;
const order = { type: 'string', enum: ['asc', 'desc'] } as const;
const column = { type: 'string', enum: ['created_at'] } as const;

/** The contract's schemas of listDoNotCall, as Fastify takes them. */
export const listSchema = {
  querystring: {
    type: 'object',
    additionalProperties: false,
    properties: {
      page: { type: 'integer', minimum: 1, maximum: 10_000 },
      perPage: { type: 'integer', minimum: 1, maximum: 100 },
      column,
      order,
      searchText: { type: 'string', minLength: 1, maxLength: 200 },
    },
  },
  response: {
    200: {
      type: 'object',
      additionalProperties: false,
      required: ['items', 'page', 'perPage', 'column', 'order'],
      properties: {
        items: {
          type: 'array',
          maxItems: 100,
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['phoneNumber', 'source', 'createdAt'],
            properties: { phoneNumber: e164, source: text, reason: text, contactListId: text, createdAt: text },
          },
        },
        page: count,
        perPage: count,
        column,
        order,
        searchText: text,
      },
    },
  },
};

/** Those of addDoNotCall; its handler judges the numbers, with all three. */
export const addSchema = {
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['phoneNumbers'],
    properties: {
      phoneNumbers: { type: 'array', minItems: 1, maxItems: 1000, items: {} },
      reason: { type: 'string', minLength: 1, maxLength: 500 },
    },
  },
  response: {
    200: {
      type: 'object',
      additionalProperties: false,
      required: ['added', 'alreadyListed', 'rejected'],
      properties: { added: count, alreadyListed: count, rejected: { type: 'array', items: {} } },
    },
  },
};
