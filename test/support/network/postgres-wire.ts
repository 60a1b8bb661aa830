/** Observes the bytes between a client and PostgreSQL. */
export type PostgresWireObserver = {
  readonly onClientBytes: (bytes: Buffer) => void
  readonly onServerBytes: (bytes: Buffer) => void
}

export type PostgresWireOptions = {
  /** Is called when a statement that commits is sent. */
  readonly onCommitSent: () => void
  /** Is called when the server has completed it. */
  readonly onCommitCompleted: () => void
}

/**
 * Returns an observer. Clients may send statements before earlier ones complete. Each round is a
 * simple query or ends with a Sync, and the server completes it with one ReadyForQuery.
 */
export function observePostgresWire({
  onCommitSent,
  onCommitCompleted,
}: PostgresWireOptions): PostgresWireObserver {
  const statements = new Map<string, string>()
  /** The numbers of the rounds that commit. */
  const committing = new Set<number>()
  let [bound, isInTransaction, isStarted] = ['', false, false]
  let [sentRounds, completedRounds] = [0, 0]
  const run = (text: string): void => {
    if (/^\s*begin\b/iu.test(text)) isInTransaction = true
    if (/^\s*rollback\b/iu.test(text)) isInTransaction = false
    if (!isCommit(text, isInTransaction)) return
    isInTransaction = false
    committing.add(sentRounds)
    onCommitSent()
  }
  const onClientBytes = createMessageSplitter(
    () => isStarted,
    (type, body) => {
      isStarted = true
      if (type === 'Q') run(readCString(body, 0))
      if (type === 'P') {
        const name = readCString(body, 0)
        statements.set(name, readCString(body, name.length + 1))
      }
      // A Bind message contains the portal and then the statement.
      if (type === 'B') bound = readCString(body, readCString(body, 0).length + 1)
      if (type === 'E') run(statements.get(bound) ?? '')
      if (type === 'Q' || type === 'S') sentRounds++
    },
  )
  // The first ReadyForQuery completes the connection.
  let isOpen = false
  const onServerBytes = createMessageSplitter(
    () => true,
    (type) => {
      if (type !== 'Z') return
      if (isOpen && committing.has(completedRounds)) onCommitCompleted()
      if (isOpen) completedRounds++
      isOpen = true
    },
  )
  return { onClientBytes, onServerBytes }
}

/** Returns whether a statement commits. Outside a transaction every statement that writes does. */
function isCommit(text: string, isInTransaction: boolean): boolean {
  if (/^\s*commit\b/iu.test(text)) return true
  return !isInTransaction && /^\s*(?:insert|update|delete|with)\b|AtOnce"\(/iu.test(text)
}

/**
 * Splits bytes into messages. A message begins with a type letter and its length, which includes
 * itself. The client's first message has no type letter.
 */
function createMessageSplitter(
  isStarted: () => boolean,
  onMessage: (type: string, body: Buffer) => void,
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
      onMessage(type, body)
    }
  }
}

/** Returns the text from this offset to the next zero byte. */
function readCString(body: Buffer, from: number): string {
  const end = body.indexOf(0, from)
  return body.toString('latin1', from, end < 0 ? body.length : end)
}
