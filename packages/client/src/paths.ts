import type { Client, MaybeOptionalInit, ParseAsResponse } from 'openapi-fetch';
import type { paths, Readable } from './generated/schema.ts';

type Verb = 'get' | 'put' | 'post' | 'patch' | 'delete';
type PathsWith<Method extends Verb> = {
  [Path in keyof paths]: paths[Path] extends { [Each in Method]: { responses: unknown } } ? Path : never;
}[keyof paths];

type ContentOf<Response> = Response extends { content: infer Content } ? Content[keyof Content] : never;
type Success = 200 | 201 | 202 | 203 | 204;
type Result<Responses, Init> =
  | {
      data: ParseAsResponse<Readable<ContentOf<Responses[keyof Responses & Success]>>, Init>;
      error?: never;
      response: Response;
    }
  | { data?: never; error: Readable<ContentOf<Responses[Exclude<keyof Responses, Success>]>>; response: Response };

type ResponsesOf<Item, Method extends Verb> = Item extends { [Each in Method]: { responses: infer Responses } }
  ? Responses
  : never;
/** May be left out where nothing in it is required. */
type InitOf<Init> = undefined extends Init
  ? [(Init & { [key: string]: unknown })?]
  : [Init & { [key: string]: unknown }];

type Send<Method extends Verb> = <Path extends PathsWith<Method>, Init extends MaybeOptionalInit<paths[Path], Method>>(
  path: Path,
  ...init: InitOf<Init>
) => Promise<Result<ResponsesOf<paths[Path], Method>, Init>>;

/** openapi-fetch's client, whose own type of an answer takes any text (`string & {}`) for an object. */
export type PathsClient = Omit<Client<paths>, Uppercase<Verb>> & {
  [Method in Verb as Uppercase<Method>]: Send<Method>;
};
