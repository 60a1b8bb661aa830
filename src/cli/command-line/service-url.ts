import type { ValueKind } from '../command.ts'

/** The address of a service, without a slash at its end. */
export const serviceUrl: ValueKind<string> = {
  rule: 'an address that starts with http:// or https://',
  parse: (text) =>
    URL.canParse(text) && /^https?:$/u.test(new URL(text).protocol)
      ? text.replace(/\/+$/u, '')
      : undefined,
}
