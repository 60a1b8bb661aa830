import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { ActionError } from '../../lib/errors.ts'
import type { Store } from '../../store/database.ts'
import type { LivenessTokenRow } from '../../store/schema.ts'
import {
  addLivenessToken,
  deleteExpiredTokens,
  findLivenessToken,
  spendLivenessToken,
} from '../../store/gate/liveness-tokens.ts'
import type { Tx } from '../../store/tx.ts'
import type { Template } from '../../vision/embed/template.ts'
import { decryptTemplate, encryptTemplate } from '../keys/template-encryption.ts'
import { deleteInBatches } from './delete-in-batches.ts'

/** The owner of a token. */
export type TokenOwner = { readonly accountId: string; readonly projectId: string }

/** Tokens of people who passed a challenge: each proves once that the person of a face was live. */
export type LivenessTokens = {
  /** Creates a token for the face with this template, in the transaction that settles the call. */
  readonly issue: (tx: Tx, owner: TokenOwner, template: Template) => Promise<string>
  /** Returns the template of the face. @throws ActionError LIVENESS_FAILED if it is not valid. */
  readonly read: (owner: TokenOwner, token: string) => Promise<Template>
  /** @throws ActionError LIVENESS_FAILED if it is not valid, or another call spent it first. */
  readonly spend: (tx: Tx, owner: TokenOwner, token: string) => Promise<void>
}

type TokenOptions = {
  readonly store: Pick<Store, 'read' | 'write'>
  /** On PostgreSQL the clock of the database, so that all servers agree. */
  readonly clock: Clock
}

/** The model of the service's templates. A token of another model is not valid. */
type ActiveModel = { readonly activeModelId: string }

/** The time to use a token. */
const tokenLifeMs = 300_000

const tokenBytes = 32

/**
 * Stores only the hash of a token, and the template encrypted with a key derived from the token. The
 * database and the master key together do not decrypt it.
 */
export function createLivenessTokens({
  store,
  clock,
  activeModelId,
}: TokenOptions & ActiveModel): LivenessTokens {
  const keyOf = ({ projectId }: TokenOwner, token: string) => {
    const tokenHash = createHash('sha256').update(token).digest()
    return { tokenHash, projectId, nowMs: clock() }
  }
  return {
    issue: async (tx, owner, template) => {
      const token = `flt_${randomBytes(tokenBytes).toString('base64url')}`
      const { tokenHash, projectId, nowMs } = keyOf(owner, token)
      const { modelId } = template
      const binding = bindingOf(owner, { tokenHash, modelId })
      const ciphertext = encryptTemplate(templateKeyOf(token), binding, template)
      const expiresAtMs = nowMs + tokenLifeMs
      await addLivenessToken(tx, { tokenHash, projectId, modelId, ciphertext, expiresAtMs })
      return token
    },
    read: async (owner, token) => {
      const row = await store.read((reading) => findLivenessToken(reading, keyOf(owner, token)))
      if (row?.modelId !== activeModelId) throw invalidToken()
      return decryptTemplate(templateKeyOf(token), bindingOf(owner, row), row.ciphertext)
    },
    spend: async (tx, owner, token) => {
      if (!(await spendLivenessToken(tx, keyOf(owner, token)))) throw invalidToken()
    },
  }
}

/** Deletes expired tokens with their templates. @returns the number. */
export function sweepLivenessTokens({ store, clock }: TokenOptions): Promise<number> {
  const beforeMs = clock()
  return deleteInBatches(store, (tx, limit) => deleteExpiredTokens(tx, { beforeMs, limit }))
}

/** One text for every reason, so that it reveals nothing about tokens of other projects. */
function invalidToken(): ActionError {
  return new ActionError(
    'LIVENESS_FAILED',
    'params.livenessToken: the token is unknown, was used, has expired or was issued before a change of the model; complete a new challenge',
  )
}

function templateKeyOf(token: string): Buffer {
  return createHmac('sha256', token).update('liveness template').digest()
}

/** A ciphertext that was moved to another account, project or token cannot be decrypted. */
function bindingOf(
  { accountId, projectId }: TokenOwner,
  { tokenHash, modelId }: Pick<LivenessTokenRow, 'tokenHash' | 'modelId'>,
) {
  const faceId = Buffer.from(tokenHash).toString('hex')
  return { accountId, galleryId: 'liveness-token', subjectId: projectId, faceId, modelId }
}
