import { charge, release } from '../billing/ledger.ts'
import { ActionError } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import { nameSubjects } from '../store/answers.ts'
import type { Score } from '../store/hours.ts'
import type { Tx } from '../store/tx.ts'
import type { Attempt } from './arrival.ts'
import { codeOf, logCall } from './log.ts'
import { seal } from './seal.ts'

/** An answer as far as the gate looks into it; the rest is the caller's and goes through untouched. */
export type Answer = {
  readonly ok: boolean
  readonly errors: readonly { readonly code: string }[]
  readonly data: { readonly results: readonly { readonly ok: boolean }[] } | null
}

/** What an action did, and how to say so. */
export type Result<A extends Answer> = {
  /**
   * Writes what the action wants written, in the same transaction as the charge, and gives the
   * answer. It may refuse with an ActionError: then nothing of it is written.
   */
  readonly conclude: (tx: Tx) => Promise<Conclusion<A>> | Conclusion<A>
  /** The answer in case it refuses. */
  readonly failed: (error: ActionError) => A
  /** What follows the commit before the answer leaves. It must not fail. */
  readonly afterwards?: (() => Promise<void>) | undefined
}

export type Conclusion<A extends Answer> = {
  readonly answer: A
  /** The subjects that it names, and what replays say once one of them is deleted. */
  readonly subjectIds?: readonly string[]
  readonly scrubbed?: A | undefined
  /** What charts of scores count of it. */
  readonly scores?: readonly Score[]
}

/**
 * The end of a call, in one transaction: its effect, the charge, the log row and the answer kept for
 * replays, all or nothing.
 *
 * @returns the answer that holds; undefined when the attempt was given up meanwhile, and then nothing
 * was written: a slow attempt can never commit after its retry.
 */
export async function settle<A extends Answer>(
  tx: Tx,
  pass: Attempt,
  result: Result<A>,
  nowMs: number,
): Promise<A | undefined> {
  const attempt = await tx.attempts.find(pass)
  if (attempt?.token !== pass.token || attempt.state !== 'running') return undefined
  const { answer, subjectIds = [], scrubbed, scores = [] } = await takeEffect(tx, result)
  const code = answer.errors[0]?.code ?? 'OK'
  const sealed = (stored: A) => seal(pass.content.answerKey, JSON.stringify(stored))
  await tx.attempts.finish({
    ...ownerOf(pass),
    code,
    answer: sealed(answer),
    scrubbed: scrubbed ? sealed(scrubbed) : null,
  })
  await nameSubjects(tx, pass, subjectIds)
  await release(tx, pass.projectId, pass.reservedMicros)
  const { projectId } = pass
  for (const score of scores) await tx.countScore(score, { projectId, atMs: nowMs })
  await logCall(tx, pass.visit, { code, nowMs, ...(await bill(tx, pass, answer, nowMs)) })
  return answer
}

async function takeEffect<A extends Answer>(
  tx: Tx,
  { conclude, failed }: Result<A>,
): Promise<Conclusion<A>> {
  try {
    return await tx.savepoint(async () => conclude(tx))
  } catch (error) {
    if (!(error instanceof ActionError)) throw error
    return { answer: failed(error) }
  }
}

/** You pay only for what is ok: an answer that is not costs nothing, a failed image of a batch neither. */
export function priceOf(pass: Attempt, answer: Answer): Micros {
  if (!answer.ok) return 0n
  return pass.priceMicros(answer.data?.results.filter((item) => !item.ok).length ?? 0)
}

async function bill(tx: Tx, pass: Attempt, answer: Answer, atMs: number) {
  const amountMicros = priceOf(pass, answer)
  if (amountMicros > pass.reservedMicros) throw new RangeError('the price rose after the gate')
  if (amountMicros === 0n) return {}
  const { projectId, requestId, windowStartMs, visit } = pass
  const paid = { projectId, requestId, windowStartMs, action: visit.action, amountMicros, atMs }
  return { transferId: await charge(tx, paid), costMicros: amountMicros }
}

/** The end of a call that failed through no fault of the caller: unbilled, and free to be retried. */
export async function giveUp(tx: Tx, pass: Attempt, error: unknown, nowMs: number): Promise<void> {
  if (!(await tx.attempts.drop(ownerOf(pass)))) return
  await release(tx, pass.projectId, pass.reservedMicros)
  await logCall(tx, pass.visit, { code: codeOf(error), nowMs })
}

/** The end of a call that costs nothing and is not kept for replays. */
export async function finish(tx: Tx, pass: Attempt, nowMs: number): Promise<void> {
  if (!(await tx.attempts.drop(ownerOf(pass)))) return
  await release(tx, pass.projectId, pass.reservedMicros)
  await logCall(tx, pass.visit, { code: 'OK', nowMs })
}

function ownerOf({ projectId, requestId, token }: Attempt) {
  return { projectId, requestId, token }
}
