/** One parser under fuzz. */
export type FuzzTarget = {
  readonly name: string
  /** Valid and invalid inputs that the mutations start from. */
  readonly seeds: () => readonly Uint8Array[] | Promise<readonly Uint8Array[]>
  /** Texts of the format; each character is one byte. */
  readonly tokens: readonly string[]
  /**
   * Parses one input.
   *
   * @returns the class of the result, such as `JPEG` or `three parts`. An input with a new class is
   *   kept in the corpus.
   * @throws Error for an invalid input. An error that `isExpected` does not accept is a defect, and so
   *   is a broken property of the result (AssertionError).
   */
  readonly run: (input: Uint8Array) => string | Promise<string>
  /** Whether an error is a documented rejection. */
  readonly isExpected: (error: unknown) => boolean
}

export function textOf(input: Uint8Array): string {
  return Buffer.from(input.buffer, input.byteOffset, input.byteLength).toString('utf8')
}

export function bufferOf(input: Uint8Array): Buffer {
  return Buffer.from(input.buffer, input.byteOffset, input.byteLength)
}

export function seedsOf(texts: readonly string[]): Uint8Array[] {
  return texts.map((text) => Buffer.from(text))
}

/**
 * Whether an error is a plain Error with a message, and none of its causes is a fault of the program:
 * a TypeError or a RangeError shows that a parser used a value before it was checked.
 */
export function isPlainRejection(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'Error' || error.message === '') return false
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause)
    if (cause instanceof TypeError || cause instanceof RangeError) return false
  return true
}
