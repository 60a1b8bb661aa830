import { timingSafeEqual } from 'node:crypto'
import { runAsAllAccounts } from '../../lib/account-context.ts'
import { ActionError, invalidRequest } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { deleteInBatches } from '../../store/delete-in-batches.ts'
import { lockChallenges } from '../../store/gate/liveness-challenges.ts'
import {
  addLivenessSession,
  deleteExpiredRows,
  findBrowserSession,
  findFrame,
  findLivenessSession,
  removeFrame,
  takeSessionRequest,
  type BrowserSession,
  type LivenessSession,
} from '../../store/gate/liveness-sessions.ts'
import { findLivenessOrigins } from '../../store/tenancy/projects.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import type { EncodedImage } from '../../vision/image/input/encoded-image.ts'
import { openKeyring, type Keyring } from '../keys/keyring.ts'
import { createSessionSecret, decryptFrame, sessionTokenOf } from '../keys/session-secrets.ts'
import { findAttempt, spendAttempt, type Attempt, type AttemptResult } from './session-attempts.ts'
import {
  attemptsMax,
  sessionLifeMs,
  sessionRequestsMax,
  type LivenessSessionsOptions,
} from './session-options.ts'
import {
  failureWindowMs,
  requireFewFailures,
  requireFewOpen,
  startAttempt,
} from './start-attempt.ts'

/** The key that creates a session. */
export type SessionOwner = { readonly projectId: string; readonly keyId: string }

export type SessionRequest = Pick<LivenessSession, 'stepCount' | 'requireAngles'> & {
  readonly requestId?: string | undefined
}

/** The liveness sessions of all projects. */
export type LivenessSessions = ReturnType<typeof createLivenessSessions>

export function createLivenessSessions(options: LivenessSessionsOptions) {
  const { store, clock } = options
  const keyring = openKeyring(options.masterKeyFile)
  return {
    /**
     * Creates a session, or returns the one that an earlier call with the same requestId created.
     *
     * @throws ActionError RATE_LIMITED at the limit of open or of failed attempts;
     *   INVALID_REQUEST for a requestId of another session.
     */
    create: (owner: SessionOwner, request: SessionRequest) =>
      store.write((tx) => createSession(tx, owner, request, { ...options, keyring })),
    /** @throws ActionError LIVENESS_SESSION_NOT_FOUND. */
    read: (projectId: string, sessionId: string) =>
      store.read(async (tx) => {
        const session = await findLivenessSession(tx, { projectId, sessionId, nowMs: clock() })
        if (!session) throw sessionNotFound()
        return toState(tx, session, clock())
      }),
    /**
     * Returns the reference frame of a passed session.
     *
     * @throws ActionError LIVENESS_FAILED if there is none, or if a call has used it.
     */
    readFrame: (projectId: string, sessionId: string) =>
      store.read(async (tx) => {
        const session = await findLivenessSession(tx, { projectId, sessionId, nowMs: clock() })
        const frame = session && (await findFrame(tx, session))
        if (!frame) throw noFrame()
        return toImage(decryptFrame(keyring, session, frame))
      }),
    /** @throws ActionError LIVENESS_FAILED if another call used the frame first. */
    spendFrame: async (tx: Tx, projectId: string, sessionId: string): Promise<void> => {
      if (!(await removeFrame(tx, { projectId, sessionId, nowMs: clock() }))) throw noFrame()
    },
    /** @throws ActionError LIVENESS_SESSION_NOT_FOUND unless the session has an open attempt. */
    requireOpen: (projectId: string, sessionId: string): Promise<void> =>
      store.read(async (tx) => {
        const isOpen = await findAttempt(tx, { projectId, sessionId, nowMs: clock() })
        if (!isOpen) throw sessionNotFound()
      }),
    /** @throws ActionError LIVENESS_SESSION_NOT_FOUND; RATE_LIMITED at the limit of failures. */
    findAttempt: (projectId: string, sessionId: string): Promise<Attempt> =>
      store.read(async (tx) => {
        const attempt = await findAttempt(tx, { projectId, sessionId, nowMs: clock() })
        if (!attempt) throw sessionNotFound()
        await requireFewFailures(tx, projectId, options)
        return attempt
      }),
    /**
     * Ends an attempt in the transaction that settles its call. A failed one is counted, and the
     * next one has other steps.
     *
     * @throws ActionError as `findAttempt`. Of concurrent calls only one spends the attempt.
     */
    spendAttempt: async (tx: Tx, attempt: Attempt, result: AttemptResult): Promise<void> => {
      await lockChallenges(tx, attempt.projectId)
      await requireFewFailures(tx, attempt.projectId, options)
      const isSpent = await spendAttempt(tx, attempt, result, { ...options, keyring })
      if (!isSpent) throw sessionNotFound()
    },
    /**
     * Returns the session of a token, which a browser sends, with the caller of its key; undefined
     * if the token is not that of the session.
     */
    findByToken: async (sessionId: string, token: string): Promise<BrowserSession | undefined> => {
      const now = new Date(clock())
      const find = () => store.read((tx) => findBrowserSession(tx, sessionId, now))
      const found = await runAsAllAccounts(find)
      return found && isEqual(token, sessionTokenOf(keyring, found.session)) ? found : undefined
    },
    /** Counts a request of the browser. @returns false if the session has none left. */
    takeRequest: (sessionId: string) => store.write((tx) => takeSessionRequest(tx, sessionId)),
    /** Deletes expired sessions with their frames. @returns the number of rows. */
    sweep: () => sweepSessions(options),
  }
}

function isEqual(sent: string, expected: string): boolean {
  const [a, b] = [Buffer.from(sent), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

async function createSession(
  tx: Tx,
  { projectId, keyId }: SessionOwner,
  { requestId, ...request }: SessionRequest,
  options: LivenessSessionsOptions & { readonly keyring: Keyring },
) {
  const { clock, keyring } = options
  await lockChallenges(tx, projectId)
  const nowMs = clock()
  // Also one that has expired but was not deleted yet.
  const earlier =
    requestId === undefined
      ? undefined
      : await findLivenessSession(tx, { projectId, requestId, nowMs: 0 })
  if (
    earlier &&
    (earlier.stepCount !== request.stepCount ||
      earlier.requireAngles !== request.requireAngles ||
      earlier.keyId !== keyId)
  )
    throw invalidRequest(
      'body.requestId: an earlier call with this requestId has other parameters or another key',
    )
  const session = earlier ?? (await addNewSession())
  const origins = await findLivenessOrigins(tx, projectId)
  const token = origins.length > 0 ? sessionTokenOf(keyring, session) : undefined
  return { ...(await toState(tx, session, nowMs)), token }

  async function addNewSession(): Promise<LivenessSession> {
    await requireFewFailures(tx, projectId, options)
    await requireFewOpen(tx, projectId, options)
    const ids = { sessionId: newId(), projectId, keyId, requestId: requestId ?? null }
    const secret = await createSessionSecret(tx, keyring, ids)
    const limits = { attemptsLeft: attemptsMax, requestsLeft: sessionRequestsMax, ...request }
    const row = { ...ids, ...secret, ...limits, expiresAtMs: nowMs + sessionLifeMs }
    await addLivenessSession(tx, row)
    await startAttempt(tx, row, options)
    return { ...row, state: 'open', result: null, hasFrame: 0 }
  }
}

/** Returns a session as its project reads it. */
async function toState(tx: ReadTx, session: LivenessSession, nowMs: number) {
  const { projectId, sessionId, attemptsLeft, state, result, hasFrame } = session
  const attempt =
    state === 'open' ? await findAttempt(tx, { projectId, sessionId, nowMs }) : undefined
  return {
    sessionId,
    attemptsLeft,
    state: state === 'open' && !attempt ? 'expired' : state,
    /** The requested movements of the next attempt; undefined unless the session is open. */
    attempt,
    /** The result of the last attempt, as `spendAttempt` has written it; undefined before the first. */
    result: result === null ? undefined : (JSON.parse(result) as Omit<AttemptResult, 'frame'>),
    hasFrame: hasFrame === 1,
  }
}

/** `spendAttempt` has written the content type before the image. */
function toImage(frame: Buffer): EncodedImage {
  const end = frame.indexOf('\n')
  const contentType = frame.toString('latin1', 0, end) as EncodedImage['contentType']
  return { bytes: frame.toString('base64', end + 1), contentType }
}

/** One text for every reason, so that it reveals nothing about sessions of other projects. */
function sessionNotFound(): ActionError {
  return new ActionError(
    'LIVENESS_SESSION_NOT_FOUND',
    'there is no liveness session with this id that accepts frames; create one with POST /v1/liveness/sessions',
  )
}

function noFrame(): ActionError {
  return new ActionError(
    'LIVENESS_FAILED',
    'params.livenessSessionId: the session is unknown, was not passed, was used by another call, ended more than 15 minutes ago, or its frame was removed, because later frames of the project reached LIVENESS_FRAMES_BYTES_MAX; complete a new session',
  )
}

/** Deletes expired challenges, and sessions with their reference frames. @returns the number. */
async function sweepSessions({
  store,
  clock,
}: Pick<LivenessSessionsOptions, 'store' | 'clock'>): Promise<number> {
  const nowMs = clock()
  const sweepTable = (table: Parameters<typeof deleteExpiredRows>[1], beforeMs: number) =>
    deleteInBatches(store, (tx) => deleteExpiredRows(tx, table, beforeMs))
  const challengeCount = await sweepTable('livenessChallenges', nowMs - failureWindowMs)
  // Their sessions would delete them all in one transaction.
  await sweepTable('livenessFrames', nowMs)
  return challengeCount + (await sweepTable('livenessSessions', nowMs))
}
