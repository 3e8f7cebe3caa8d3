import { expect, test } from 'vitest';
import { wordsInGreeting } from './greeting-words.ts';

test.each([
  [
    'machine',
    'Hi, you have reached Maria. I can not come to the phone right now. Please leave a message after the tone.',
  ],
  ['machine', 'Hey, it is Bob. Leave a message.'],
  ['machine', 'The person you are calling is not available right now.'],
  ['machine', 'Bitte hinterlassen Sie eine Nachricht nach dem Ton.'],
  ['machine', 'En este momento no puedo atender. Deje su mensaje después de la señal.'],
  ['machine', 'Vous êtes bien chez Paul. Laissez un message après le bip.'],
  ['screening', 'Hi, if you record your name and reason for calling, I will see if this person is available.'],
  ['menu', 'Thank you for calling Acme. For sales, press one. For support, press two.'],
  ['not_in_service', 'The number you have dialed is not in service. Please check the number and dial again.'],
  ['not_in_service', 'Kein Anschluss unter dieser Nummer.'],
])('%s is heard by its words: %s', (suggests, text) => {
  expect(wordsInGreeting(text)).toMatchObject({ suggests });
});

test.each([
  'Hello?',
  'Yes? Who is calling?',
  'Acme Dental, this is Grace, how can I help you?',
  'Hold on, let me get to another room. Hello?',
  'She is not here at the moment, she will be back at nine.',
  'Müller am Apparat.',
  '',
])('a person says nothing of that: %s', (text) => {
  expect(wordsInGreeting(text)).toBeUndefined();
});

test('a phrase alone is less sure than two, and they are told', () => {
  const [one, two] = ['Leave a message.', 'Leave a message after the beep.'].map(wordsInGreeting);
  expect(one).toEqual({ suggests: 'machine', confidence: 0.8, words: 'leave a message' });
  expect(two).toEqual({ suggests: 'machine', confidence: 0.93, words: 'leave a message, after the beep' });
});

test.each([
  "She's not available right now, do you want to leave a message?",
  "He can't come to the phone. Shall I call you back as soon as he is here, or will you leave a message?",
  'Sie ist nicht erreichbar, möchten Sie eine Nachricht hinterlassen?',
  'Mailbox.',
  'Voicemail van Jan.',
])('it is not sure by what is one hint, however often: %s', (text) => {
  expect(wordsInGreeting(text)).toMatchObject({ suggests: 'machine', confidence: 0.8 });
});

/** Of the words every tenth is wrong: another word stands in its place. */
test('most machines are known though every tenth word is misheard', () => {
  const text =
    'Hi, you have reached Maria. I can not come to the phone right now. Please leave a message after the tone.';
  const words = text.split(' ');
  const known = words.filter((_, wrong) => {
    const misheard = words.map((word, at) => ((at + wrong) % 10 === 0 ? 'tomato' : word)).join(' ');
    return wordsInGreeting(misheard)?.suggests === 'machine';
  });
  expect(known).toHaveLength(words.length);
});
