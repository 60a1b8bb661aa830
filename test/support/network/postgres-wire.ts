/** What a client says to PostgreSQL, and what is answered, watched. */
export type PostgresWireObserver = {
  readonly onClientBytes: (bytes: Buffer) => void
  readonly onServerBytes: (bytes: Buffer) => void
}

export type PostgresWireOptions = {
  /** Told of each statement that commits, when it is sent. */
  readonly onCommitSent: () => void
  /** Told when the server is done with it. */
  readonly onCommitCompleted: () => void
}

/**
 * Statements may be sent before earlier ones are answered: each round ends with a Sync, or is a
 * simple query, and is answered by one ReadyForQuery.
 */
export function observePostgresWire({
  onCommitSent: atCommit,
  onCommitCompleted: atCommitted,
}: PostgresWireOptions): PostgresWireObserver {
  const statements = new Map<string, string>()
  /** Rounds at whose end something was committed. */
  const committing = new Set<number>()
  let [bound, isInTransaction, isStarted] = ['', false, false]
  let [sent, done] = [0, 0]
  const run = (text: string): void => {
    if (/^\s*begin\b/iu.test(text)) isInTransaction = true
    if (/^\s*rollback\b/iu.test(text)) isInTransaction = false
    if (!isCommit(text, isInTransaction)) return
    isInTransaction = false
    committing.add(sent)
    atCommit()
  }
  const said = createMessageSplitter(
    () => isStarted,
    (type, body) => {
      isStarted = true
      if (type === 'Q') run(readCString(body, 0))
      if (type === 'P') {
        const name = readCString(body, 0)
        statements.set(name, readCString(body, name.length + 1))
      }
      // Of a Bind, the portal comes first, then the statement.
      if (type === 'B') bound = readCString(body, readCString(body, 0).length + 1)
      if (type === 'E') run(statements.get(bound) ?? '')
      if (type === 'Q' || type === 'S') sent++
    },
  )
  // The connection itself begins with a ReadyForQuery.
  let isOpen = false
  const answered = createMessageSplitter(
    () => true,
    (type) => {
      if (type !== 'Z') return
      if (isOpen && committing.has(done)) atCommitted()
      if (isOpen) done++
      isOpen = true
    },
  )
  return { onClientBytes: said, onServerBytes: answered }
}

/** Outside of a transaction every statement that writes commits by itself. */
function isCommit(text: string, isInTransaction: boolean): boolean {
  if (/^\s*commit\b/iu.test(text)) return true
  return !isInTransaction && /^\s*(?:insert|update|delete|with)\b|AtOnce"\(/iu.test(text)
}

/** Messages are a letter and a length with itself; the first of a client has no letter. */
function createMessageSplitter(
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
function readCString(body: Buffer, from: number): string {
  const end = body.indexOf(0, from)
  return body.toString('latin1', from, end < 0 ? body.length : end)
}
