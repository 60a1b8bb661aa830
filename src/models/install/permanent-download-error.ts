/** The source refused the request or sent unusable data: a retry cannot succeed. */
export class PermanentDownloadError extends Error {
  override readonly name = 'PermanentDownloadError'
}
