/** The server lets in the styles that bear the nonce it wrote into the page. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}

/**
 * Dialogs hold the page behind them still with a style of their own; the package that makes it takes
 * its nonce from this name and no other.
 */
export function setWebpackNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
}
