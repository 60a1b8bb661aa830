import { createHmac } from 'node:crypto'

/** The header with the time and the signatures of a delivery. */
export const signatureHeader = 'facegate-signature'

/**
 * Signs a delivery: `t=<seconds>,v1=<hex>` with one `v1` for each valid secret, the newest first. A
 * signature is the HMAC-SHA256 of `<seconds>.<body>` under the text of the secret. A later scheme
 * would have another name than `v1`.
 */
export function sign(body: string, secrets: readonly string[], nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000)
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
    return `v1=${hmac}`
  })
  return [`t=${seconds}`, ...signatures].join(',')
}
