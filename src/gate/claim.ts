import { ActionError } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import { keyState, parsePermissions, type KeyState } from '../store/keys.ts'
import type { AttemptRow } from '../store/schema.ts'
import type { Facts, Tx } from '../store/tx.ts'
import { afford } from './afford.ts'
import type { Attempt, UnderstoodCall, Visit } from './arrival.ts'
import { expire } from './expire.ts'
import { takeToken, type Limits, type Tokens } from './limit.ts'
import { codeOf, logCall } from './log.ts'
import { permit } from './permit.ts'
import { recall, type Moment } from './replay.ts'
import type { Fingerprint } from './seal.ts'

export type ClaimSettings = {
  /** For projects and accounts that have none of their own. */
  readonly limits: Limits
  readonly unitMicros: Micros
  readonly attemptMsMax: number
}

export type ClaimOptions = ClaimSettings & Moment

export type Question = {
  readonly visit: Visit
  readonly asked: (UnderstoodCall & { readonly content: Fingerprint }) | { readonly error: unknown }
  /** What a twin paid when it first asked: nobody pays twice. */
  readonly paid: Tokens | undefined
  /** Who may settle the attempt, if there is one. */
  readonly token: string
}

export type Claim =
  | { readonly kind: 'unauthorized'; readonly state: Exclude<KeyState, 'active'> | 'unknown' }
  | (Decision & { readonly tokens: Tokens })

type Decision =
  | { readonly kind: 'refused'; readonly error: unknown }
  | { readonly kind: 'replay'; readonly answer: Uint8Array; readonly content: Fingerprint }
  | { readonly kind: 'twin' }
  | { readonly kind: 'pass'; readonly attempt: Attempt }

/** A key's last use is written down once in so long. */
export const touchMsMin = 60_000
const imagesMax = 10

/**
 * The gate's one transaction: is the key still good, may it do this, is there a token, was this asked
 * before, does the budget cover it? Whoever is refused has a row in the log at the end; whoever
 * passes has the price set aside and an attempt of its own. Every call takes a token where there is
 * one, whatever becomes of it.
 */
export async function claim(
  tx: Tx,
  question: Question,
  settings: ClaimSettings & { readonly moment: () => Moment },
): Promise<Claim> {
  const { visit, paid } = question
  const { keyId, projectId } = visit.caller
  const facts = await tx.facts({ keyId, action: visit.action })
  // Now is when the claim's turn has come: it may have waited for others of its project.
  const options = { ...settings, ...settings.moment() }
  const { nowMs, steadyUs } = options
  if (!facts) return { kind: 'unauthorized', state: 'unknown' }
  const state = keyState(facts, new Date(nowMs))
  if (state !== 'active') return { kind: 'unauthorized', state }
  if (nowMs - Date.parse(facts.lastUsedAtUtc ?? '1970') >= touchMsMin)
    await tx.touchKey({ keyId, atUtc: new Date(nowMs).toISOString() })
  const tokens = paid ?? takeToken(limitsOf(facts, options), facts.fullAtUs, steadyUs)
  if (!paid) await tx.fillBucket({ projectId, fullAtUs: tokens.fullAtUs })
  return { ...(await decide(tx, question, { ...options, facts, tokens })), tokens }
}

type Known = ClaimOptions & { readonly facts: Facts; readonly tokens: Tokens }

export function limitsOf(
  { sustainedPerS, burst }: Pick<Facts, 'sustainedPerS' | 'burst'>,
  { limits }: ClaimOptions,
): Limits {
  return { sustainedPerS: sustainedPerS ?? limits.sustainedPerS, burst: burst ?? limits.burst }
}

/** The questions in the order of the contract; the first refusal is the answer. */
async function decide(tx: Tx, question: Question, known: Known): Promise<Decision> {
  const { visit, asked } = question
  const refused = async (error: unknown): Promise<Decision> => {
    await logCall(tx, visit, { code: codeOf(error) })
    return { kind: 'refused', error }
  }
  try {
    // A body that could not be read keeps its status; what is wrong inside it waits for its turn.
    if ('error' in asked && !(asked.error instanceof ActionError)) return await refused(asked.error)
    if (!('error' in asked)) {
      const held = parsePermissions(known.facts.permissions)
      for (const permission of asked.permissions) permit(held, permission)
    }
    if (!known.tokens.isAdmitted)
      throw new ActionError('RATE_LIMITED', 'Project rate limit exceeded.')
    if ('error' in asked) throw asked.error
    return await replayOrBegin(tx, question, asked, known)
  } catch (error) {
    if (error instanceof ActionError) return refused(error)
    throw error
  }
}

type Understood = Exclude<Question['asked'], { readonly error: unknown }>

/** @throws ActionError REQUEST_ID_CONFLICT or PAYMENT_REQUIRED. */
async function replayOrBegin(
  tx: Tx,
  { visit, token }: Question,
  asked: Understood,
  known: Known,
): Promise<Decision> {
  const { nowMs } = known
  const { content } = asked
  const key = { projectId: visit.caller.projectId, requestId: visit.requestId.toLowerCase() }
  const unitMicros = known.facts.unitMicros ?? known.unitMicros
  const found = await tx.attempts.find(key)
  const attempt = attemptOf({ visit, asked, key, token, windowStartMs: nowMs, unitMicros })
  // It was begun by this very question, whose answer was lost on the way.
  if (found?.token === token) return { kind: 'pass', attempt: { ...attempt, ...moneyOf(found) } }
  const earlier = recall(found, content.fingerprint, known)
  if (earlier.kind === 'running') return { kind: 'twin' }
  if (earlier.kind === 'done') {
    await logCall(tx, visit, { code: earlier.code, isReplay: true })
    return { kind: 'replay', answer: earlier.answer, content }
  }
  if (earlier.kind === 'stale') await tx.attempts.remove(key)
  if (earlier.kind === 'overdue') await expire(tx, earlier.attempt, nowMs)
  // A retry of an attempt that was given up stays in its window: the ledger then refuses two charges.
  const windowStartMs = earlier.kind === 'overdue' ? earlier.attempt.windowStartMs : nowMs
  return { kind: 'pass', attempt: await begin(tx, { ...attempt, windowStartMs }, known) }
}

type Beginning = {
  readonly visit: Visit
  readonly asked: Understood
  readonly key: { readonly projectId: string; readonly requestId: string }
  readonly token: string
  readonly windowStartMs: number
  /** The frozen price of a unit. */
  readonly unitMicros: Micros
}

/** The attempt that a call is to have, at its price. */
export function attemptOf(of: Beginning): Attempt {
  const { visit, asked, key, token, windowStartMs, unitMicros } = of
  const priceMicros = (failedCount: number): Micros =>
    BigInt(priceUnitsOf(asked, failedCount)) * unitMicros
  const { content } = asked
  return {
    visit,
    ...key,
    token,
    content,
    windowStartMs,
    reservedMicros: priceMicros(0),
    priceMicros,
  }
}

function moneyOf({ windowStartMs, reservedMicros }: AttemptRow) {
  return { windowStartMs, reservedMicros }
}

/** @throws ActionError PAYMENT_REQUIRED. */
async function begin(tx: Tx, attempt: Attempt, known: Known): Promise<Attempt> {
  const { visit, projectId, requestId, token, content, windowStartMs, reservedMicros } = attempt
  await afford(tx, projectId, reservedMicros)
  await tx.attempts.begin({
    projectId,
    requestId,
    keyId: visit.caller.keyId,
    action: visit.action,
    fingerprint: content.fingerprint,
    token,
    reservedMicros,
    deadlineMs: Math.floor(known.steadyUs / 1000) + known.attemptMsMax,
    windowStartMs,
  })
  return attempt
}

/** The price in units, if so many of the images failed. */
export function priceUnitsOf({ action, params }: Understood, failedCount: number): number {
  return action.price(imageCountOf(params) - failedCount)
}

/** The parameters are not validated yet: whatever is no list of images counts as none. */
function imageCountOf(params: unknown): number {
  if (typeof params !== 'object' || params === null || !('images' in params)) return 0
  return Array.isArray(params.images) ? Math.min(params.images.length, imagesMax) : 0
}
