import { charge, chargeHashInput, release, type Charge } from '../billing/ledger.ts'
import { ActionError, unavailable, type HttpError } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import { addResponseSubjects } from '../store/gate/stored-responses.ts'
import type { Score } from '../store/gate/hourly-counts.ts'
import type { Tx } from '../store/tx.ts'
import type { Reservation } from './incoming-call.ts'
import { callRowOf, errorCodeOf, logCall } from './log-call.ts'
import { encryptResponse } from './fingerprint.ts'

/** An answer as far as the gate looks into it; the rest is the caller's and goes through untouched. */
export type BillableResponse = {
  readonly ok: boolean
  readonly errors: readonly { readonly code: string }[]
  readonly data: { readonly results: readonly { readonly ok: boolean }[] } | null
}

/** What an action did, and how to say so. */
export type ExecutedAction<A extends BillableResponse> = {
  /**
   * Writes what the action wants written, in the same transaction as the charge, and gives the
   * answer. It may refuse with an ActionError: then nothing of it is written.
   */
  readonly applyEffects: (tx: Tx) => Promise<AppliedOutcome<A>> | AppliedOutcome<A>
  /** The answer in case it refuses. */
  readonly toErrorResponse: (error: ActionError) => A
  /** What follows the commit before the answer leaves. It must not fail. */
  readonly afterCommit?: (() => Promise<void>) | undefined
}

export type AppliedOutcome<A extends BillableResponse> = {
  readonly response: A
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
export async function settle<A extends BillableResponse>(
  tx: Tx,
  pass: Reservation,
  result: ExecutedAction<A>,
  nowMs: number,
): Promise<A | undefined> {
  if (tx.settleInOneStatement)
    return settleInSingleStatement(
      { ...tx, settleInOneStatement: tx.settleInOneStatement },
      pass,
      result,
      nowMs,
    )
  const attempt = await tx.attempts.find(pass)
  if (attempt?.token !== pass.token || attempt.state !== 'running') return undefined
  const concluded = await applyEffects(tx, result)
  const { response: answer, subjectIds = [], scores = [] } = concluded
  const { projectId } = pass
  const kept = replayRowOf(pass, concluded)
  await tx.attempts.complete({ ...reservationKeyOf(pass), ...kept })
  await addResponseSubjects(tx, pass, subjectIds)
  await release(tx, projectId, pass.reservedMicros)
  for (const score of scores) await tx.countScore(score, { projectId, atMs: nowMs })
  const amountMicros = priceOf(pass, answer)
  const paid = amountMicros > 0n && { transferId: await charge(tx, chargeOf(pass, answer, nowMs)) }
  await logCall(tx, pass.call, { code: kept.code, costMicros: amountMicros, ...paid })
  return answer
}

type SingleStatementTx = Tx & Required<Pick<Tx, 'settleInOneStatement'>>

/**
 * The same where the database does it by one statement.
 *
 * @throws HttpError 503 when the attempt was given up meanwhile: then its effect is taken back too.
 */
async function settleInSingleStatement<A extends BillableResponse>(
  tx: SingleStatementTx,
  pass: Reservation,
  result: ExecutedAction<A>,
  nowMs: number,
): Promise<A> {
  const concluded = await applyEffects(tx, result)
  const { response: answer, subjectIds = [], scores = [] } = concluded
  const kept = replayRowOf(pass, concluded)
  const settled = await tx.settleInOneStatement({
    ...reservationKeyOf(pass),
    ...kept,
    subjectIds,
    scores,
    nowMs,
    action: pass.call.action,
    windowStartMs: pass.windowStartMs,
    reservedMicros: pass.reservedMicros,
    amountMicros: priceOf(pass, answer),
    link: chargeHashInput(chargeOf(pass, answer, nowMs)),
    row: callRowOf(pass.call, { code: kept.code }),
  })
  if (!settled) throw reservationExpired()
  return answer
}

/** What a caller is told whose call was given up before it came to its end. */
export function reservationExpired(): HttpError {
  return unavailable('The call took too long and was given up; send it again.')
}

/** What is kept of an answer for replays. */
function replayRowOf<A extends BillableResponse>(
  pass: Reservation,
  { response: answer, scrubbed }: AppliedOutcome<A>,
) {
  const sealed = (stored: A) =>
    encryptResponse(pass.fingerprint.responseKey, JSON.stringify(stored))
  return {
    code: answer.errors[0]?.code ?? 'OK',
    answer: sealed(answer),
    scrubbed: scrubbed ? sealed(scrubbed) : null,
  }
}

async function applyEffects<A extends BillableResponse>(
  tx: Tx,
  { applyEffects: conclude, toErrorResponse: failed }: ExecutedAction<A>,
): Promise<AppliedOutcome<A>> {
  try {
    return await tx.savepoint(async () => conclude(tx))
  } catch (error) {
    if (!(error instanceof ActionError)) throw error
    return { response: failed(error) }
  }
}

/** You pay only for what is ok: an answer that is not costs nothing, a failed image of a batch neither. */
export function priceOf(pass: Reservation, answer: BillableResponse): Micros {
  if (!answer.ok) return 0n
  const failedCount = answer.data?.results.filter((item) => !item.ok).length ?? 0
  const amountMicros = pass.priceMicros(failedCount)
  if (amountMicros > pass.reservedMicros) throw new RangeError('the price rose after the gate')
  return amountMicros
}

function chargeOf(pass: Reservation, answer: BillableResponse, atMs: number): Charge {
  const { projectId, requestId, windowStartMs, call: visit } = pass
  const amountMicros = priceOf(pass, answer)
  return { projectId, requestId, windowStartMs, action: visit.action, amountMicros, atMs }
}

/** The end of a call that failed through no fault of the caller: unbilled, and free to be retried. */
export async function releaseReservation(tx: Tx, pass: Reservation, error: unknown): Promise<void> {
  if (!(await tx.attempts.deleteOwned(reservationKeyOf(pass)))) return
  await release(tx, pass.projectId, pass.reservedMicros)
  await logCall(tx, pass.call, { code: errorCodeOf(error) })
}

/** The end of a call that costs nothing and is not kept for replays. */
export async function finishUnbilled(tx: Tx, pass: Reservation): Promise<void> {
  if (!(await tx.attempts.deleteOwned(reservationKeyOf(pass)))) return
  await release(tx, pass.projectId, pass.reservedMicros)
  await logCall(tx, pass.call, { code: 'OK' })
}

function reservationKeyOf({ projectId, requestId, token }: Reservation) {
  return { projectId, requestId, token }
}
