import type { NewsOfAnswerer } from './answered-voice.ts';

const answerers: Partial<Record<string, string>> = {
  machine: 'A machine, such as a voicemail, seems to have answered. Nobody hears you now.',
  screening: 'A service that asks who calls has answered. Say in one sentence who you are and why you call, then wait.',
  menu: 'A menu of keys seems to have answered, and no person.',
  fax: 'A fax machine has answered.',
  not_in_service: 'An announcement says that the number is not in service.',
};

/** What a speech model is told of who answered; nothing of a person, whom it hears itself. */
export function newsInWords(news: NewsOfAnswerer): string | undefined {
  if (news.event === 'leave_message')
    return 'The voicemail records now. Say your message in one piece, with who calls and why, and then end the call.';
  return answerers[news.answeredBy];
}
