const INSTRUCTIONS = `You call patients of a clinic to remind them of an appointment tomorrow at ten.
Be brief and friendly. Greet, say why you call, and ask whether they will come.
When that is settled, say goodbye and call end_call.`;

/**
 * The `session` of `session.update` in OpenAI's realtime API: who the model is, µ-law both ways, and the one thing that
 * it can do.
 * @param about what `start.customParameters` tells of the call: its variables among them
 */
export function session(about: Record<string, string>): object {
  const format = { type: 'audio/pcmu' };
  return {
    type: 'realtime',
    instructions: `${INSTRUCTIONS}\nOf this call you know: ${JSON.stringify(about)}`,
    output_modalities: ['audio'],
    audio: { input: { format, turn_detection: { type: 'server_vad' } }, output: { format, voice: 'marin' } },
    tools: [
      {
        type: 'function',
        name: 'end_call',
        description: 'Hangs up, once you have said goodbye.',
        parameters: {
          type: 'object',
          additionalProperties: false,
          required: ['summary', 'converted'],
          properties: {
            summary: { type: 'string', description: 'What came of the call, in one sentence.' },
            converted: { type: 'boolean', description: 'Whether they will come.' },
          },
        },
      },
    ],
  };
}

/** How much of what was said has been heard, in whole ms: no more than there was, or the API refuses it. */
export const heardMs = (elapsedMs: number, bytes: number): number => Math.floor(Math.min(elapsedMs, bytes / 8));
