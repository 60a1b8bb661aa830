/** Returns the nonce of the page. The content security policy allows only styles with this nonce. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}

/**
 * Dialogs add a style that prevents scrolling of the page behind them. The package that adds the
 * style reads its nonce only from `__webpack_nonce__`.
 */
export function setWebpackNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
}
