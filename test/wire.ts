/** What a client says to PostgreSQL, watched. */
export type Frontend = {
  readonly take: (bytes: Buffer) => void
  /** As the server said last. */
  isInTransaction: boolean
}

/** Told of the state of the transaction whenever the server is ready for another query. */
type AtReady = (state: 'I' | 'T' | 'E') => void

/**
 * @param atCommit told of each statement that commits: `commit` itself, and in no transaction any
 *   statement that may write.
 */
export function watchFrontend(atCommit: () => void): Frontend {
  const statements = new Map<string, string>()
  let bound = ''
  let isStarted = false
  const frontend: Frontend = { isInTransaction: false, take: (bytes) => split(bytes) }
  const split = splitter(
    () => isStarted,
    (type, body) => {
      isStarted = true
      const run = (text: string): void => {
        if (commits(text, frontend.isInTransaction)) atCommit()
      }
      if (type === 'Q') run(textAt(body, 0))
      if (type === 'P') {
        const name = textAt(body, 0)
        statements.set(name, textAt(body, name.length + 1))
      }
      // Of a Bind, the portal comes first, then the statement.
      if (type === 'B') bound = textAt(body, textAt(body, 0).length + 1)
      if (type === 'E') run(statements.get(bound) ?? '')
    },
  )
  return frontend
}

export function watchBackend(atReady: AtReady): (bytes: Buffer) => void {
  return splitter(
    () => true,
    (type, body) => {
      // The server says one of the three.
      if (type === 'Z') atReady(textOf(body) as 'I' | 'T' | 'E')
    },
  )
}

/** Reading is no commit, nor is the beginning of a transaction. */
function commits(text: string, isInTransaction: boolean): boolean {
  if (/^\s*commit\b/iu.test(text)) return true
  return !isInTransaction && !/^\s*(?:begin|start|set|show|rollback|listen)\b/iu.test(text)
}

/** Messages are a letter and a length with itself; the first of a client has no letter. */
function splitter(
  isStarted: () => boolean,
  tell: (type: string, body: Buffer) => void,
): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0)
  return (bytes) => {
    rest = Buffer.concat([rest, bytes])
    for (;;) {
      const head = isStarted() ? 1 : 0
      if (rest.length < head + 4) return
      const end = head + rest.readUInt32BE(head)
      if (rest.length < end) return
      const type = head === 1 ? String.fromCodePoint(rest[0] ?? 0) : 'startup'
      const body = rest.subarray(head + 4, end)
      rest = rest.subarray(end)
      tell(type, body)
    }
  }
}

/** The text at this place, up to its zero byte. */
function textAt(body: Buffer, from: number): string {
  const end = body.indexOf(0, from)
  return body.toString('latin1', from, end < 0 ? body.length : end)
}

function textOf(body: Buffer): string {
  return body.toString('latin1')
}
