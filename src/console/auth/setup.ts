import { z } from 'zod'
import { HttpError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { commandLineName } from '../../store/console/audit-log.ts'
import * as storedUsers from '../../store/console/users.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import { removeSecondFactor } from '../../store/console/second-factors.ts'
import { endUserAccess } from '../../store/console/sessions.ts'
import { findFirstAccountId } from '../../store/tenancy/projects.ts'
import { invalidField, name } from '../server/input.ts'
import { defineWrite, type ConsoleContext } from '../server/console-route.ts'
import { requireStrongPassword } from './password-strength.ts'
import { createSession, password, requireSecureTransport, session } from './sign-in.ts'
import { hashToken, generateToken } from './session-token.ts'

const linkLifetimeMs = 24 * 3_600_000

/**
 * Creates a setup link and returns its token. The link sets a password once, within 24 hours.
 *
 * @param userId the user of the link; null for an owner.
 * @param creatorId the owner who creates it in the console; null for all others.
 */
export async function createSetupLink(
  tx: Tx,
  userId: string | null,
  nowMs: number,
  creatorId: string | null = null,
) {
  const token = generateToken()
  await storedUsers.addInviteLink(tx, {
    tokenHash: hashToken(token),
    userId,
    creatorId,
    expiresAtMs: nowMs + linkLifetimeMs,
  })
  return token
}

/**
 * Returns the path of the setup page. The browser does not send the part after the #, so that the
 * token appears in no log.
 *
 * @param name the invited user; an owner enters a name on the page.
 */
export function setupLinkPath(token: string, name?: string): string {
  return `/setup${name === undefined ? '' : `?name=${encodeURIComponent(name)}`}#${token}`
}

/** Sets the password of a setup link: for the first owner, an invited user or a lost password. */
export const setUp = defineWrite('/setup', {
  minimumRole: 'anonymous',
  auditAction: 'session.setUp',
  body: z.strictObject({ token: z.string().trim().max(64), name: name.optional(), password }),
  response: session,
  prepare: async ({ body, services, request }) => {
    requireSecureTransport(request)
    const { clientIp } = request
    const invited = await services.store
      .read(async (tx) => {
        const { userId } = await requireSetupLink(tx, body.token, services)
        return userId === null ? undefined : storedUsers.findUser(tx, userId)
      })
      .catch(async (error: unknown) => {
        await services.authThrottle.recordFailure(clientIp)
        throw error
      })
    const userName = invited?.name ?? body.name ?? ''
    await requireStrongPassword(body.password, { userName, path: 'body.password' })
    // Not that of a user who is signed in while the page opens.
    const accountId = invited?.accountId ?? (await findFirstAccountId(services.store.db)) ?? ''
    const source = { clientIp, isKnownAddress: true }
    return { password: await services.passwordHasher.hash(body.password, source), accountId }
  },
  accountOf: ({ accountId }) => accountId,
  handle: async (call, { tx }) => {
    const { body, services, prepared } = call
    const { userId, creatorName } = await requireSetupLink(tx, body.token, services)
    await storedUsers.removeInviteLink(tx, userId)
    const user =
      userId === null
        ? await findOrCreateOwner(tx, call, prepared.accountId)
        : await storedUsers.findUser(tx, userId)
    if (!user) throw new Error('the user of a setup link does not exist')
    requireEnabled(user)
    await storedUsers.updateUser(tx, user.userId, { password: prepared.password })
    await endUserAccess(tx, user.userId)
    // A person who lost the authenticator app regains access with a link.
    await removeSecondFactor(tx, user.userId)
    const detail = { role: user.role, linkCreatedBy: creatorName ?? commandLineName }
    return { ...(await createSession(tx, user, call)), target: user.userId, detail }
  },
})

/** @throws HttpError 404 when the link is invalid, used or expired, with one text for all three. */
async function requireSetupLink(tx: ReadTx, token: string, { clock }: ConsoleContext['services']) {
  const link = await storedUsers.findInviteLink(tx, hashToken(token), clock())
  if (link) return link
  throw new HttpError(404, 'This link is invalid, used or expired. Request a new one.')
}

/**
 * Returns the owner of that name in the oldest account, to which an owner link belongs. It creates the
 * user, or makes an existing user an owner: only a person with access to the machine can create the link.
 *
 * @throws ValidationError 409 if a user of another account has the name.
 */
async function findOrCreateOwner(
  tx: Tx,
  { body: { name }, services }: ConsoleContext<unknown, { readonly name?: string | undefined }>,
  accountId: string,
): Promise<storedUsers.ConsoleUser> {
  if (name === undefined) throw invalidField('body.name', 'is required for an owner')
  const owner = { name, role: 'owner', accountId } as const
  const existing = await storedUsers.findUserByName(tx, name)
  if (existing?.accountId !== owner.accountId)
    return addUserWithoutPassword(tx, owner, services.clock())
  await storedUsers.updateUser(tx, existing.userId, { role: 'owner' })
  return { ...existing, role: 'owner' }
}

/** @throws HttpError 409 if the user is disabled: a link only sets a password. */
export function requireEnabled({ name, disabledAtUtc }: storedUsers.ConsoleUser): void {
  if (disabledAtUtc === null) return
  throw new HttpError(409, `The user ${name} is disabled. An owner must enable the user first.`)
}

/**
 * Adds a user who cannot sign in until a setup link sets the password.
 *
 * @throws ValidationError 409 if a user of any account has the name.
 */
export async function addUserWithoutPassword(
  tx: Tx,
  user: Pick<storedUsers.ConsoleUser, 'name' | 'role' | 'accountId'>,
  nowMs: number,
): Promise<storedUsers.ConsoleUser> {
  const added = await storedUsers.addUser(tx, {
    ...user,
    userId: newId(),
    password: null,
    createdAtUtc: new Date(nowMs).toISOString(),
    lastSeenAtUtc: null,
    disabledAtUtc: null,
  })
  if (added) return added
  const rule = 'must be another name: a user of this or of another account has this name'
  throw invalidField('body.name', rule, 409)
}
