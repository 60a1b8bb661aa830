/** A thread that reads ranges of a gallery with a separate connection and decrypts their templates. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import { runAsAllAccounts } from '../../../lib/account-context.ts'
import type { StoreLocation } from '../../../store/database.ts'
import { openStore } from '../../../store/open-store.ts'
import { createDecryptStoredTemplate } from '../../keys/template-encryption.ts'
import { createSubjectKeys, openKeyring } from '../../keys/keyring.ts'
import { createPageEncryption } from '../../keys/page-encryption.ts'
import { readRange, type LoadedModels, type LoadRange, type RangeContent } from './read-range.ts'

export type OpenThreadData = {
  readonly location: StoreLocation
  readonly masterKeyFile: string
  readonly models: LoadedModels
}

/** A range to read; undefined closes the connection and ends the thread. */
export type OpenThreadRequest = { readonly range: LoadRange | undefined }

export type OpenThreadResponse =
  | { readonly content: RangeContent; readonly alerts: readonly TemplateAlert[] }
  | { readonly error: unknown }

/** What the log has to report about a template that cannot be decrypted. */
export type TemplateAlert = { readonly fields: object; readonly message: string }

const port = parentPort
assert.ok(port, 'this module must run as a worker thread')
const { location, masterKeyFile, models } = workerData as OpenThreadData
const store = await openStore({ ...location, connectionsMax: 1 }, { readsGalleries: true })
const alerts: TemplateAlert[] = []
const keyring = openKeyring(masterKeyFile)
const decryptStored = createDecryptStoredTemplate(createSubjectKeys(keyring, Date.now), {
  error: (fields: object, message = '') => void alerts.push({ fields, message }),
})
const pageEncryption = createPageEncryption(keyring)
const deps = { store, decryptStored, pageEncryption, models }

port.on('message', ({ range }: OpenThreadRequest) => void (range ? respond(range) : close()))

async function respond(range: LoadRange): Promise<void> {
  try {
    const content = await runAsAllAccounts(() => readRange(range, deps))
    const response: OpenThreadResponse = { content, alerts: alerts.splice(0) }
    port?.postMessage(
      response,
      content.packed.map(({ bytes }) => bytes),
    )
  } catch (error) {
    port?.postMessage({ error } satisfies OpenThreadResponse)
  }
}

async function close(): Promise<void> {
  await store.close()
  port?.close()
}
