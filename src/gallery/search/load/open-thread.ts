/** A thread that reads ranges of a gallery with a separate connection and decrypts their templates. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import { runAsAllAccounts } from '../../../lib/account-context.ts'
import type { StoreLocation } from '../../../store/database.ts'
import type { FaceRange } from '../../../store/gallery/search/face-ranges.ts'
import { openStore } from '../../../store/open-store.ts'
import { createDecryptStoredTemplates } from '../../keys/decrypt-stored-template.ts'
import { openKeyring } from '../../keys/keyring.ts'
import { createSubjectKeys } from '../../keys/subject-keys.ts'
import { packRows, type PackedRows } from './packed-rows.ts'
import { readRange, type LoadedModels } from './read-range.ts'

export type OpenThreadData = {
  readonly location: StoreLocation
  readonly masterKeyFile: string
  readonly models: LoadedModels
}

/** A range to read; undefined closes the connection and ends the thread. */
export type OpenThreadRequest = { readonly range: FaceRange | undefined }

export type OpenThreadResponse =
  | { readonly packed: PackedRows; readonly alerts: readonly TemplateAlert[] }
  | { readonly error: unknown }

/** What the log has to report about a template that cannot be decrypted. */
export type TemplateAlert = { readonly fields: object; readonly message: string }

const port = parentPort
assert.ok(port, 'this module must run as a worker thread')
const { location, masterKeyFile, models } = workerData as OpenThreadData
const store = await openStore(location, { readsGalleries: true })
const alerts: TemplateAlert[] = []
const keys = createSubjectKeys(openKeyring(masterKeyFile), Date.now)
const decryptStored = createDecryptStoredTemplates(keys, {
  error: (fields: object, message = '') => void alerts.push({ fields, message }),
})

port.on('message', ({ range }: OpenThreadRequest) => void (range ? respond(range) : close()))

async function respond(range: FaceRange): Promise<void> {
  try {
    const rows = await runAsAllAccounts(() => readRange(range, { store, decryptStored, models }))
    const packed = packRows(rows)
    const response: OpenThreadResponse = { packed, alerts: alerts.splice(0) }
    port?.postMessage(response, [packed.vectors.buffer])
  } catch (error) {
    port?.postMessage({ error } satisfies OpenThreadResponse)
  }
}

async function close(): Promise<void> {
  await store.close()
  port?.close()
}
