/** Browsers send an origin exactly as `URL` writes it. */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  const isExact = url !== null && url.origin === text && !text.includes('*')
  return isExact && /^https?:$/u.test(url.protocol)
}
