/**
 * The header `WWW-Authenticate` of every 401 response (RFC 9110, section 11.6.1). No registered
 * scheme describes a key in a header of its own, or a session cookie. `Basic` and `Bearer` would be
 * wrong: clients would send credentials that the service does not read.
 */
type Challenge = { readonly 'www-authenticate': string }

/** For the routes of the API: the key belongs into the header `X-Api-Key`. */
export const apiKeyChallenge: Challenge = {
  'www-authenticate': 'ApiKey realm="facegate", in="header", name="X-Api-Key"',
}

/** For the routes of the console: browsers ignore the scheme and show no dialog. */
export const sessionChallenge: Challenge = {
  'www-authenticate': 'Cookie realm="facegate console", cookie-name="__Host-facegate"',
}
