/** The results that the clients received. They are compared with the database at the end. */
export type CallRecord = {
  /** Request ids of the calls with a price that were answered with `ok: true`. */
  readonly acknowledged: Set<string>
  /** Request ids of the calls whose last answer was an error. */
  readonly rejected: Set<string>
  /** Acknowledged subjects that were not deleted. */
  readonly subjects: string[]
  /** Subjects whose deletion was acknowledged, with the time of the response. */
  readonly deletedAtMs: Map<string, number>
  /** Number of answers by kind, such as `ok`, `RATE_LIMITED` or `HTTP 503`. */
  readonly answers: Map<string, number>
  /** What must never happen, such as HTTP 500 or a deleted subject in a result. */
  readonly violations: string[]
}

export function createCallRecord(): CallRecord {
  return {
    acknowledged: new Set(),
    rejected: new Set(),
    subjects: [],
    deletedAtMs: new Map(),
    answers: new Map(),
    violations: [],
  }
}

const violationsMax = 100

export function addViolation(record: CallRecord, text: string): void {
  if (record.violations.length >= violationsMax) return
  record.violations.push(text)
  console.log(`${new Date().toISOString()} VIOLATION: ${text}`)
}

export function countAnswer(record: CallRecord, answer: string): void {
  record.answers.set(answer, (record.answers.get(answer) ?? 0) + 1)
}
