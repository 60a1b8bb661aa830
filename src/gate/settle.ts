import { charge, chargeHashInput, release, type Charge } from '../billing/ledger.ts'
import { ActionError, unavailable, type HttpError } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import { addResponseSubjects } from '../store/gate/stored-responses.ts'
import type { Store } from '../store/database.ts'
import type { Score } from '../store/gate/hourly-counts.ts'
import type { SettleStatementInput } from '../store/gate/statements.ts'
import { addEvent, type FaceMatch } from '../store/webhooks/events.ts'
import type { Tx } from '../store/tx.ts'
import type { Reservation } from './incoming-call.ts'
import { problemsOfResults, type LoggedProblem } from './call-detail.ts'
import { callRowOf, logCall, outcomeOfError } from './log-call.ts'
import { encryptResponse } from './fingerprint.ts'

/** The part of a response that determines its price. The gate returns the rest unchanged. */
export type BillableResponse = {
  readonly ok: boolean
  readonly errors: readonly LoggedProblem[]
  readonly data: {
    readonly results: readonly { readonly ok: boolean; readonly value?: unknown }[]
  } | null
}

/** What a call returned: its outcome, or an effect that returns the outcome when it is settled. */
export type CallOutput<Outcome> =
  | { readonly outcome: Outcome }
  | {
      /**
       * Runs in the transaction that charges the call. If it throws an ActionError, its writes are
       * rolled back and that error becomes the outcome.
       */
      readonly effect: (tx: Tx) => Promise<Outcome> | Outcome
      /** Runs after the commit and before the response is sent. It must not throw. */
      readonly afterCommit?: (() => Promise<void>) | undefined
    }

/** A call that ran and waits to be settled. */
export type CompletedCall<Outcome, S extends Settlement> = {
  readonly output: CallOutput<Outcome | ActionError>
  readonly toSettlement: (outcome: Outcome | ActionError) => S
}

/** What a call is settled with. */
export type Settlement<Response extends BillableResponse = BillableResponse> = {
  readonly response: Response
  /** The subjects that the response contains. */
  readonly subjectIds?: readonly string[]
  /** Images that are not charged although their result is successful. */
  readonly unbilledImages?: number
  /** Replaces the stored response once one of those subjects is deleted. */
  readonly scrubbed?: Response | undefined
  /** The scores that the charts count. */
  readonly scores?: readonly Score[]
  /** The matches that webhooks of the project receive. */
  readonly matches?: readonly FaceMatch[]
}

export type SettleOptions = {
  readonly nowMs: number
  /** See `addEvent`. */
  readonly outboxMax: number
}

/**
 * Settles a call in one transaction: its effect, the charge, the log row and the response stored for
 * replays are all written, or none is.
 *
 * @returns the settlement; undefined if the reservation has expired. Then nothing was written, so a
 *   slow call never commits after its retry.
 */
export async function settle<Outcome, S extends Settlement>(
  tx: Tx,
  reservation: Reservation,
  completed: CompletedCall<Outcome, S>,
  options: SettleOptions,
): Promise<S | undefined> {
  if (tx.settleInOneStatement)
    return settleInSingleStatement(
      { ...tx, settleInOneStatement: tx.settleInOneStatement },
      reservation,
      completed,
      options,
    )
  const stored = await tx.attempts.find(reservation)
  if (stored?.token !== reservation.token || stored.state !== 'running') return undefined
  const settlement = completed.toSettlement(await applyEffect(tx, completed.output))
  await writeSettlement(tx, reservation, settlement, options)
  return settlement
}

/** Writes a settlement statement by statement. @returns false if the reservation has expired. */
async function writeSettlement(
  tx: Tx,
  reservation: Reservation,
  settlement: Settlement,
  options: SettleOptions,
): Promise<boolean> {
  const { subjectIds = [], scores = [] } = settlement
  const { projectId } = reservation
  await addMatchEvent(tx, reservation, settlement, options)
  const replay = replayRowOf(reservation, settlement)
  if (!(await tx.attempts.complete({ ...reservationKeyOf(reservation), ...replay }))) return false
  await addResponseSubjects(tx, reservation, subjectIds)
  await release(tx, projectId, reservation.reservedMicros)
  for (const score of scores) await tx.countScore(score, { projectId, atMs: options.nowMs })
  const { costMicros, meteredMicros } = amountsOf(reservation, settlement)
  const paid = costMicros > 0n && {
    transferId: await charge(tx, chargeOf(reservation, settlement, options.nowMs)),
  }
  const problems = problemsOf(settlement)
  const outcome = { code: replay.code, costMicros, meteredMicros, problems, ...paid }
  await logCall(tx, reservation.call, outcome)
  return true
}

function problemsOf({ response: { errors, data } }: Settlement): readonly LoggedProblem[] {
  return errors.length > 0 ? errors : problemsOfResults(data?.results ?? [])
}

type SingleStatementTx = Tx & Required<Pick<Tx, 'settleInOneStatement'>>

/**
 * Settles a call by one statement, on databases that support it.
 *
 * @throws HttpError 503 if the reservation has expired: this also rolls back the effect.
 */
async function settleInSingleStatement<Outcome, S extends Settlement>(
  tx: SingleStatementTx,
  reservation: Reservation,
  completed: CompletedCall<Outcome, S>,
  options: SettleOptions,
): Promise<S> {
  const settlement = completed.toSettlement(await applyEffect(tx, completed.output))
  if (problemsOf(settlement).length > 0) {
    // The single statement does not store why a call failed.
    if (!(await writeSettlement(tx, reservation, settlement, options))) throw reservationExpired()
    return settlement
  }
  await addMatchEvent(tx, reservation, settlement, options)
  const input = statementInputOf(reservation, settlement, options.nowMs)
  if (!(await tx.settleInOneStatement(input))) throw reservationExpired()
  return settlement
}

/**
 * Settles a call in a transaction, or by one statement of the store if the call writes nothing else.
 *
 * @throws HttpError 503 if the reservation has expired.
 */
export async function settleOnStore<Outcome, S extends Settlement>(
  { write, settleInOneStatement }: Pick<Store, 'write' | 'settleInOneStatement'>,
  reservation: Reservation,
  completed: CompletedCall<Outcome, S>,
  options: SettleOptions,
): Promise<S> {
  const { output, toSettlement } = completed
  const known = 'outcome' in output ? toSettlement(output.outcome) : undefined
  if (settleInOneStatement && known && !writesMore(reservation, known)) {
    const input = statementInputOf(reservation, known, options.nowMs)
    if (!(await settleInOneStatement(input))) throw reservationExpired()
    return known
  }
  const job = known ? { output, toSettlement: () => known } : completed
  const settlement = await write((tx) => settle(tx, reservation, job, options))
  if (!settlement) throw reservationExpired()
  return settlement
}

/** Whether a settlement stores more than one statement can: an event, or why the call failed. */
function writesMore(reservation: Reservation, settlement: Settlement): boolean {
  return hasMatchEvent(reservation, settlement) || problemsOf(settlement).length > 0
}

function hasMatchEvent({ call }: Reservation, { matches = [] }: Settlement): boolean {
  return matches.length > 0 && call.caller.matchWebhooks > 0
}

function statementInputOf(
  reservation: Reservation,
  settlement: Settlement,
  nowMs: number,
): SettleStatementInput {
  const { code, answer, scrubbed } = replayRowOf(reservation, settlement)
  const { costMicros: amountMicros, meteredMicros } = amountsOf(reservation, settlement)
  const { projectId, requestId, token, call, windowStartMs, reservedMicros } = reservation
  // Without spread objects: a property after one takes several times as long.
  return {
    projectId,
    requestId,
    token,
    code,
    answer,
    scrubbed,
    subjectIds: settlement.subjectIds ?? [],
    scores: settlement.scores ?? [],
    nowMs,
    action: call.action,
    windowStartMs,
    reservedMicros,
    amountMicros,
    meteredMicros,
    link: chargeHashInput(chargeOf(reservation, settlement, nowMs)),
    row: callRowOf(call, { code }),
  }
}

/** Stores the matches of a call for the webhooks that receive them; without one it does nothing. */
async function addMatchEvent(
  tx: Tx,
  reservation: Reservation,
  settlement: Settlement,
  { nowMs, outboxMax }: SettleOptions,
): Promise<void> {
  if (!hasMatchEvent(reservation, settlement)) return
  const { call, projectId, requestId } = reservation
  const { keyId, matchWebhooks } = call.caller
  const data = { requestId, keyId, matches: settlement.matches ?? [] }
  const event = { projectId, type: 'identify.matched', data, atMs: nowMs } as const
  await addEvent(tx, event, { outboxMax, webhooks: matchWebhooks })
}

/** The error for a call whose reservation expired before it was settled. */
function reservationExpired(): HttpError {
  return unavailable('The call took too long and was cancelled; send it again.')
}

/** Returns the outcome of a call; an ActionError rolls back the writes of its effect. */
async function applyEffect<Outcome>(
  tx: Tx,
  output: CallOutput<Outcome | ActionError>,
): Promise<Outcome | ActionError> {
  if ('outcome' in output) return output.outcome
  try {
    return await tx.savepoint(async () => output.effect(tx))
  } catch (error) {
    // A temporary refusal is not settled, so that a retry runs.
    if (!(error instanceof ActionError) || error.retryAfterS !== undefined) throw error
    return error
  }
}

/** The columns that store a response for replays. */
function replayRowOf(reservation: Reservation, { response, scrubbed }: Settlement) {
  const encrypted = (stored: BillableResponse) =>
    encryptResponse(reservation.fingerprint.responseKey, JSON.stringify(stored))
  return {
    code: response.errors[0]?.code ?? 'OK',
    answer: encrypted(response),
    scrubbed: scrubbed ? encrypted(scrubbed) : null,
  }
}

/** Returns the amount to charge for a response, and the price that is only recorded. */
export function amountsOf(reservation: Reservation, settlement: Settlement) {
  const amountMicros = priceOf(reservation, settlement)
  return reservation.isBilled
    ? { costMicros: amountMicros, meteredMicros: 0n }
    : { costMicros: 0n, meteredMicros: amountMicros }
}

/** Returns the price of a response: a failed call and a failed image of a batch cost nothing. */
function priceOf(
  reservation: Reservation,
  { response, unbilledImages = 0 }: Pick<Settlement, 'response' | 'unbilledImages'>,
): Micros {
  if (!response.ok) return 0n
  const failedCount = response.data?.results.filter((item) => !item.ok).length ?? 0
  const amountMicros = reservation.priceMicros(failedCount + unbilledImages)
  if (reservation.isBilled && amountMicros > reservation.reservedMicros)
    throw new RangeError('the price of the response is higher than its reservation')
  return amountMicros
}

function chargeOf(reservation: Reservation, settlement: Settlement, atMs: number): Charge {
  const { projectId, requestId, windowStartMs, call } = reservation
  const amountMicros = priceOf(reservation, settlement)
  return { projectId, requestId, windowStartMs, action: call.action, amountMicros, atMs }
}

/** Ends a call that failed with an internal error: it costs nothing and can be retried. */
export async function releaseReservation(
  tx: Tx,
  reservation: Reservation,
  error: unknown,
): Promise<void> {
  if (!(await tx.attempts.deleteOwned(reservationKeyOf(reservation)))) return
  await release(tx, reservation.projectId, reservation.reservedMicros)
  await logCall(tx, reservation.call, outcomeOfError(error))
}

/** Ends a successful call that is free and is not stored for replays. */
export async function finishUnbilled(tx: Tx, reservation: Reservation): Promise<void> {
  if (!(await tx.attempts.deleteOwned(reservationKeyOf(reservation)))) return
  await release(tx, reservation.projectId, reservation.reservedMicros)
  await logCall(tx, reservation.call, { code: 'OK' })
}

function reservationKeyOf({ projectId, requestId, token }: Reservation) {
  return { projectId, requestId, token }
}
