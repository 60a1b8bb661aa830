import { addMasterKey, createMasterKeyFile } from '../../gallery/keys/keyring.ts'
import { rotateKeys, type RotateKeysResult } from '../../gallery/keys/rotate-keys.ts'
import { masterKeyPath } from '../../start/store-location.ts'
import { auditedFileChange, createEntryHook } from '../audit/audited-change.ts'
import { type CommandValues, print } from '../command.ts'
import { readSettings } from '../read-settings.ts'
import { withStore } from '../with-store.ts'

export async function create({ to: file, json }: CommandValues<'to'>): Promise<void> {
  if (!createMasterKeyFile(file)) throw new Error(`${file} exists already and was not changed`)
  print({ file }, json, () => `${file} contains a new master key; keep a copy elsewhere`)
}

export async function rotate({
  prepared,
  json,
}: CommandValues & { readonly prepared: boolean }): Promise<void> {
  const masterKeyFile = masterKeyPath(readSettings())
  const result = await withStore(async (store) => {
    const entry = { auditAction: 'masterKey.rotate', target: 'master key', detail: { prepared } }
    const onRotated = await createEntryHook(store, entry)
    return rotateKeys({ store, masterKeyFile, isPrepared: prepared, nowMs: Date.now, onRotated })
  })
  print(result, json, () => describeRotation(result))
}

function describeRotation({ subjects, renewed, unreadable }: RotateKeysResult): string {
  const lines = [`the keys of ${subjects} subjects are encrypted with a new master key`]
  if (renewed > 0) lines.push(`${renewed} of them have a new key, because data was removed`)
  if (unreadable > 0)
    lines.push(
      `${unreadable} changed or moved ciphertexts could not be decrypted and match nothing; ` +
        'enroll these faces again',
    )
  return lines.join('\n')
}

export async function add({ json }: { readonly json: boolean }): Promise<void> {
  const file = masterKeyPath(readSettings())
  const entry = { auditAction: 'masterKey.add', target: 'master key' }
  const masterKeyId = await auditedFileChange(entry, () => addMasterKey(file))
  print({ masterKeyId, file }, json, () => `${file} has a new first key, ${masterKeyId}`)
}
