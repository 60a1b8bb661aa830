// Identifies the people in the pictures of a door camera and decides whether the door opens.
//   FACEGATE_KEY=fsk_live_... node door.mjs <folder> [--watch]
import { execFile } from 'node:child_process'
import { readdirSync, statSync, watch } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { createClient } from 'facegate-client'

/** Returns a variable. An empty one counts as absent: env files and compose files set such values. */
const read = (name, absent = '') => process.env[name]?.trim() || absent
const unlockCommand = read('UNLOCK_COMMAND')
const search = { groups: [read('GROUP', 'staff')], threshold: readThreshold(), minQuality: 40 }

const [folder = '', option = ''] = process.argv.slice(2)
if (!folder || !['', '--watch'].includes(option)) {
  console.error('usage: FACEGATE_KEY=... node door.mjs <folder> [--watch]')
  process.exit(2)
}
// A person at a door does not wait longer than a few seconds.
const facegate = createClient({
  baseUrl: read('FACEGATE_URL', 'http://127.0.0.1:8080'),
  apiKey: read('FACEGATE_KEY'),
  callMsMax: 5000,
})

/** Size and time of each known file by name: a camera can write one name again. */
const known = new Map()
/** Pictures are processed one after the other, in the order in which they arrive. */
let queue = Promise.resolve()
const enqueue = (name) => {
  queue = queue.then(() => processPicture(name))
}

if (option === '--watch') {
  watch(folder, (_event, name) => name && enqueue(name))
  // A restart must not open the door for earlier pictures.
  for (const name of readdirSync(folder)) known.set(name, readVersion(name))
  console.log(`watching ${folder}`)
} else for (const name of readdirSync(folder).sort()) enqueue(name)
await queue

async function processPicture(name) {
  const version = readVersion(name)
  const isNew = version && known.get(name) !== version
  if (!isNew || !/\.(?:jpe?g|png)$/iu.test(name)) return
  known.set(name, version)
  try {
    const match = await identify(path.join(folder, name))
    const id = match?.externalId ?? match?.subjectId
    if (id) await unlock(id)
    console.log(name, id ? `open ${id} ${match.similarity}` : 'closed: no match')
  } catch (error) {
    // The door stays closed after every error: no face, no connection, or a failed unlock command.
    console.log(name, `closed: ${error.code ?? error.message}`)
  }
}

/** Returns the size and time of a file, or undefined if it was removed. */
function readVersion(name) {
  const facts = statSync(path.join(folder, name), { throwIfNoEntry: false })
  return facts && `${facts.size} ${facts.mtimeMs}`
}

/** Returns the enrolled person in a picture, or undefined. */
async function identify(file) {
  const { bestMatch } = await facegate.identify(file, search)
  return bestMatch ?? undefined
}

/** Runs the command that opens the door, with the id of the person as its argument. */
async function unlock(id) {
  if (!unlockCommand) return
  try {
    await promisify(execFile)(unlockCommand, [id])
  } catch (cause) {
    throw new Error('the unlock command failed', { cause })
  }
}

/** Returns the similarity from which a person matches. A lower one by mistake would open the door. */
function readThreshold() {
  const text = read('THRESHOLD', '0.9')
  if (!/^(?:0?\.[89]\d*|1(?:\.0+)?)$/u.test(text)) {
    console.error('THRESHOLD must be a number from 0.8 to 1: set 0.9, or remove it')
    process.exit(1)
  }
  return Number(text)
}
