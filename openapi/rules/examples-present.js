const hasExample = ({ example, examples }) =>
  example !== undefined || (examples !== undefined && Object.keys(examples).length > 0);

function MediaType(media, { report, location }) {
  if (!hasExample(media)) report({ message: 'An example is missing.', location: location.key() });
}

/** Every parameter, request body and response body shows an example: the docs and the mock live by them. */
export function examplesPresent() {
  return {
    Parameter(parameter, { report, location }) {
      if (!hasExample(parameter)) report({ message: `An example of ${parameter.name} is missing.`, location });
    },
    RequestBody: { MediaType },
    Response: { MediaType },
  };
}
