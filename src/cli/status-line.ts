/** Minimum time between two lines where standard error is not a terminal. */
const lineIntervalMs = 2000

/** Prints progress on standard error: on one line of a terminal, else on several. */
export function createStatusLine() {
  const { stderr } = process
  let lastLineMs = 0
  return {
    /** @param isLast the text is printed in any case. */
    report: (text: string, isLast = false): void => {
      if (stderr.isTTY) return void stderr.write(`\r\u001B[K${text}`)
      if (!isLast && Date.now() - lastLineMs < lineIntervalMs) return
      lastLineMs = Date.now()
      stderr.write(`${text}\n`)
    },
    end: (): void => {
      if (stderr.isTTY) stderr.write('\n')
    },
  }
}
