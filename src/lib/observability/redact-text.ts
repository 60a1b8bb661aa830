const removed = '[removed]'

/** What looks like a secret, the most specific first. */
const secretPatterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // A URL with a user name or a password, and the query of any URL.
  [/\b(?<scheme>[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@[^\s"']*/giu, `$<scheme>${removed}`],
  [/(?<url>\bhttps?:\/\/[^\s"'?]*)\?[^\s"']*/giu, `$<url>?${removed}`],
  // API keys and signing secrets.
  [/\b(?:fsk_[a-z]+_|whsec_)[\w+/=-]+/gu, removed],
  [/\bBearer\s+\S+/giu, `Bearer ${removed}`],
  [
    /\b(?<name>password|passwd|pwd|secret|token|api[-_ ]?key)(?<sign>\s*[=:]\s*)\S+/giu,
    `$<name>$<sign>${removed}`,
  ],
  // Session tokens, links and master keys are random bytes in base64.
  [/[A-Za-z0-9+/_-]{32,}={0,2}/gu, removed],
  [/[\w.+-]+@[\w-]+\.[\w.-]+/gu, removed],
]

/** Returns a text in which everything that looks like a secret or an email address is replaced. */
export function redactText(text: string): string {
  return secretPatterns.reduce(
    (redacted, [pattern, replacement]) => redacted.replaceAll(pattern, replacement),
    text,
  )
}
