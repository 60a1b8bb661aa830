/** The source said no, or sent what cannot be used: asking again changes nothing. */
export class PermanentDownloadError extends Error {
  override readonly name = 'RefusedError'
}
