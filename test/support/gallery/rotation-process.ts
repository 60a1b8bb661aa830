import { rotateKeys } from '../../../src/gallery/keys/rotate-keys.ts'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { hookCommits } from '../database/hook-commits.ts'

/**
 * A key rotation in a separate process, which kills itself before a commit. Its arguments are the
 * data folder, the URL of the database, the master key file and the number of that commit.
 */
const [dataDir = '', databaseUrl = '', masterKeyFile = '', commitText = ''] = process.argv.slice(2)
let commitsLeft = Number(commitText)
const store = hookCommits(await openStore({ dataDir, databaseUrl }), dataDir, (step) => {
  if (step !== 'commit') return
  commitsLeft -= 1
  if (commitsLeft === 0) process.kill(process.pid, 'SIGKILL')
})
await runAsAllAccounts(() => rotateKeys({ store, masterKeyFile, nowMs: Date.now }))
await store.close()
