/** The source said no, or sent what cannot be used: asking again changes nothing. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}
