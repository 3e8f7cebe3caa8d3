/**
 * The bytes of a text in base64, if it is the only text that stands for them: without letters that decoding passes over, and
 * with the padding of its encoding. Else a token could be written in many ways, and what is compared as text be passed by.
 */
export function canonicalBytes(text: string, encoding: 'base64' | 'base64url'): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  return bytes.toString(encoding) === text ? bytes : undefined;
}
