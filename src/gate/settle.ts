import { release } from '../billing/ledger.ts'
import { ActionError, unavailable } from '../lib/errors.ts'
import type { CallDecision } from '../lib/observability/call-decision.ts'
import type { Store, Tx } from '../store/database.ts'
import type { Score } from '../store/gate/hourly-counts.ts'
import { amountsOf } from '../store/gate/settlement-rule.ts'
import type { SettlementInput } from '../store/gate/statements.ts'
import { type ResultFaceEvent, addEvent, findFaceEventReceivers } from '../store/webhooks/events.ts'
import type { Reservation } from './call-states.ts'
import {
  problemsOfResults,
  type CallOutcome,
  type LoggedProblem,
  callRowOf,
  logCall,
} from './log-call.ts'
import { encryptResponse } from './request-fingerprint.ts'

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
  /** Is stored for replays instead of the response. */
  readonly stored?: Response | undefined
  /** The subjects that the response contains. */
  readonly subjectIds?: readonly string[]
  /** Images that are not charged although their result is successful. */
  readonly unbilledImages?: number
  /** Replaces the stored response once one of those subjects is deleted. */
  readonly scrubbed?: Response | undefined
  /** The scores that the charts count. */
  readonly scores?: readonly Score[]
  /** What the call decided, for the request log. */
  readonly decision?: CallDecision | undefined
  /** The events about faces that webhooks of the project receive. */
  readonly faceEvents?: readonly ResultFaceEvent[]
}

export type SettleOptions = {
  readonly nowMs: number
  /** See `addEvent`. */
  readonly outboxMax: number
  /** Receives the size of the response that a call stores for replays. */
  readonly onStored?: ((projectId: string, bytes: number) => void) | undefined
}

/**
 * Settles a call: its effect, the charge, the log row and the response stored for replays are all
 * written, or none is. A call without an effect is settled together with others.
 *
 * @throws HttpError 503 if the reservation has expired. Then nothing was written, so a slow call never
 *   commits after its retry.
 */
export async function settle<Outcome, S extends Settlement>(
  store: Pick<Store, 'write' | 'settleCall'>,
  reservation: Reservation,
  { output, toSettlement }: CompletedCall<Outcome, S>,
  options: SettleOptions,
): Promise<S> {
  if ('effect' in output)
    return store.write(async (tx) => {
      const settlement = toSettlement(await applyEffect(tx, output.effect))
      await settleInTransaction(tx, reservation, settlement, options)
      return settlement
    })
  const settlement = toSettlement(output.outcome)
  if (hasFaceEvent(reservation, settlement))
    await store.write((tx) => settleInTransaction(tx, reservation, settlement, options))
  else await requireSettled(store.settleCall(settlementInputOf(reservation, settlement, options)))
  return settlement
}

/** Settles a call in a transaction. If it throws, the transaction is rolled back, also an effect. */
export async function settleInTransaction(
  tx: Tx,
  reservation: Reservation,
  settlement: Settlement,
  options: SettleOptions,
): Promise<void> {
  await addFaceEvents(tx, reservation, settlement, options)
  await requireSettled(tx.settleCall(settlementInputOf(reservation, settlement, options)))
}

/** @throws HttpError 503 if the reservation has expired before the call was settled. */
async function requireSettled(isSettled: Promise<boolean>): Promise<void> {
  if (!(await isSettled))
    throw unavailable('The call took too long and was cancelled; send it again.')
}

/** Returns the outcome of a call; an ActionError rolls back the writes of its effect. */
async function applyEffect<Outcome>(tx: Tx, effect: (tx: Tx) => Promise<Outcome> | Outcome) {
  try {
    return await tx.savepoint(async () => effect(tx))
  } catch (error) {
    // A refusal is not settled, so that a retry runs.
    if (!(error instanceof ActionError) || isRefusal(error)) throw error
    return error
  }
}

/**
 * Whether a call with this error is neither settled nor stored for replays, so that a retry with the
 * same requestId runs: it was refused temporarily, or the key can get the permission.
 */
export function isRefusal({ code, retryAfterS }: ActionError): boolean {
  return retryAfterS !== undefined || code === 'FORBIDDEN'
}

function settlementInputOf(
  reservation: Reservation,
  settlement: Settlement,
  { nowMs, onStored }: SettleOptions,
): SettlementInput {
  const { response, scrubbed, subjectIds = [], scores = [], decision } = settlement
  const { projectId, requestId, token, call, windowStartMs, reservedMicros } = reservation
  const { amountMicros, meteredMicros } = amountsOf(reservation, settlement)
  const { errors, data } = response
  const code = errors[0]?.code ?? 'OK'
  const problems = errors.length > 0 ? errors : problemsOfResults(data?.results ?? [])
  const stored = encrypted(reservation, settlement.stored ?? response)
  const scrubbedBytes = scrubbed ? encrypted(reservation, scrubbed) : null
  onStored?.(projectId, stored.length + (scrubbedBytes?.length ?? 0))
  // Without spread objects: a property after one takes several times as long.
  return {
    projectId,
    requestId,
    token,
    code,
    response: stored,
    scrubbed: scrubbedBytes,
    subjectIds,
    scores,
    decision,
    nowMs,
    action: call.action,
    windowStartMs,
    reservedMicros,
    amountMicros,
    meteredMicros,
    row: callRowOf(call, { code, problems }),
  }
}

function encrypted({ fingerprint }: Reservation, response: BillableResponse): Uint8Array {
  return encryptResponse(fingerprint.responseKey, JSON.stringify(response))
}

function hasFaceEvent({ call }: Reservation, { faceEvents = [] }: Settlement): boolean {
  return faceEvents.length > 0 && call.caller.matchWebhooks > 0
}

/** Stores the events about the faces of a call for the webhooks that receive them. */
async function addFaceEvents(
  tx: Tx,
  reservation: Reservation,
  settlement: Settlement,
  { nowMs, outboxMax }: SettleOptions,
): Promise<void> {
  if (!hasFaceEvent(reservation, settlement)) return
  const { call, projectId, requestId } = reservation
  const { keyId } = call.caller
  const receivers = await findFaceEventReceivers(tx, projectId, settlement.faceEvents ?? [])
  for (const { type, webhookIds, faces, omitted } of receivers) {
    const name = type === 'identify.matched' ? 'matches' : 'faces'
    const data = { requestId, keyId, [name]: faces, ...(omitted > 0 && { omitted }) }
    const event = { projectId, type, data, atMs: nowMs }
    await addEvent(tx, event, { outboxMax, webhookIds })
  }
}

/** Ends a call that costs nothing and is not stored for replays: a free one, or one with an internal error. */
export async function finishUnbilled(
  tx: Tx,
  { call, projectId, requestId, token, reservedMicros }: Reservation,
  outcome: CallOutcome,
): Promise<void> {
  if (!(await tx.attempts.deleteOwned({ projectId, requestId, token }))) return
  await release(tx, projectId, reservedMicros)
  await logCall(tx, call, outcome)
}
