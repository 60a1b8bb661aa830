import { charge, chargeText, release, type Charge } from '../billing/ledger.ts'
import { ActionError, unavailable, type HttpError } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import { nameSubjects } from '../store/answers.ts'
import type { Score } from '../store/hours.ts'
import type { Tx } from '../store/tx.ts'
import type { Attempt } from './arrival.ts'
import { callRowOf, codeOf, logCall } from './log.ts'
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
  if (tx.settleAtOnce)
    return settleAtOnce({ ...tx, settleAtOnce: tx.settleAtOnce }, pass, result, nowMs)
  const attempt = await tx.attempts.find(pass)
  if (attempt?.token !== pass.token || attempt.state !== 'running') return undefined
  const concluded = await takeEffect(tx, result)
  const { answer, subjectIds = [], scores = [] } = concluded
  const { projectId } = pass
  const kept = keptOf(pass, concluded)
  await tx.attempts.finish({ ...ownerOf(pass), ...kept })
  await nameSubjects(tx, pass, subjectIds)
  await release(tx, projectId, pass.reservedMicros)
  for (const score of scores) await tx.countScore(score, { projectId, atMs: nowMs })
  const amountMicros = priceOf(pass, answer)
  const paid = amountMicros > 0n && { transferId: await charge(tx, paidOf(pass, answer, nowMs)) }
  await logCall(tx, pass.visit, { code: kept.code, costMicros: amountMicros, ...paid })
  return answer
}

type Quick = Tx & Required<Pick<Tx, 'settleAtOnce'>>

/**
 * The same where the database does it by one statement.
 *
 * @throws HttpError 503 when the attempt was given up meanwhile: then its effect is taken back too.
 */
async function settleAtOnce<A extends Answer>(
  tx: Quick,
  pass: Attempt,
  result: Result<A>,
  nowMs: number,
): Promise<A> {
  const concluded = await takeEffect(tx, result)
  const { answer, subjectIds = [], scores = [] } = concluded
  const kept = keptOf(pass, concluded)
  const settled = await tx.settleAtOnce({
    ...ownerOf(pass),
    ...kept,
    subjectIds,
    scores,
    nowMs,
    action: pass.visit.action,
    windowStartMs: pass.windowStartMs,
    reservedMicros: pass.reservedMicros,
    amountMicros: priceOf(pass, answer),
    link: chargeText(paidOf(pass, answer, nowMs)),
    row: callRowOf(pass.visit, { code: kept.code }),
  })
  if (!settled) throw givenUp()
  return answer
}

/** What a caller is told whose call was given up before it came to its end. */
export function givenUp(): HttpError {
  return unavailable('The call took too long and was given up; send it again.')
}

/** What is kept of an answer for replays. */
function keptOf<A extends Answer>(pass: Attempt, { answer, scrubbed }: Conclusion<A>) {
  const sealed = (stored: A) => seal(pass.content.answerKey, JSON.stringify(stored))
  return {
    code: answer.errors[0]?.code ?? 'OK',
    answer: sealed(answer),
    scrubbed: scrubbed ? sealed(scrubbed) : null,
  }
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
  const failedCount = answer.data?.results.filter((item) => !item.ok).length ?? 0
  const amountMicros = pass.priceMicros(failedCount)
  if (amountMicros > pass.reservedMicros) throw new RangeError('the price rose after the gate')
  return amountMicros
}

function paidOf(pass: Attempt, answer: Answer, atMs: number): Charge {
  const { projectId, requestId, windowStartMs, visit } = pass
  const amountMicros = priceOf(pass, answer)
  return { projectId, requestId, windowStartMs, action: visit.action, amountMicros, atMs }
}

/** The end of a call that failed through no fault of the caller: unbilled, and free to be retried. */
export async function giveUp(tx: Tx, pass: Attempt, error: unknown): Promise<void> {
  if (!(await tx.attempts.drop(ownerOf(pass)))) return
  await release(tx, pass.projectId, pass.reservedMicros)
  await logCall(tx, pass.visit, { code: codeOf(error) })
}

/** The end of a call that costs nothing and is not kept for replays. */
export async function finish(tx: Tx, pass: Attempt): Promise<void> {
  if (!(await tx.attempts.drop(ownerOf(pass)))) return
  await release(tx, pass.projectId, pass.reservedMicros)
  await logCall(tx, pass.visit, { code: 'OK' })
}

function ownerOf({ projectId, requestId, token }: Attempt) {
  return { projectId, requestId, token }
}
