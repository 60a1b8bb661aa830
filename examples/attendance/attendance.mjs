// Adds the people in the pictures of a terminal to a CSV file.
//   FACEGATE_KEY=fsk_live_... node attendance.mjs <folder> <file.csv>
import { createHash } from 'node:crypto'
import { appendFile, readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { createClient } from 'facegate-client'

// An empty variable counts as absent.
const baseUrl = process.env.FACEGATE_URL || 'http://127.0.0.1:8080'
const apiKey = process.env.FACEGATE_KEY ?? ''
const [folder = '', csvFile = ''] = process.argv.slice(2)
if (!folder || !csvFile) {
  console.error('usage: FACEGATE_KEY=... node attendance.mjs <folder> <file.csv>')
  process.exit(2)
}
const facegate = createClient({ baseUrl, apiKey })

let csv = await readFile(csvFile, 'utf8').catch(() => '')
if (csv === '') await addRow('minute,number,name,similarity,picture')
const counts = { added: 0, repeated: 0, withoutMatch: 0 }

for (const name of (await readdir(folder)).sort())
  if (/\.(?:jpe?g|png)$/iu.test(name)) await addCheckIn(name)
console.log(
  `${counts.added} added, ${counts.repeated} repeated, ${counts.withoutMatch} without a match`,
)

async function addCheckIn(name) {
  const file = path.join(folder, name)
  const person = await identify(await readFile(file), name)
  // The terminal writes a picture when a person arrives, so its time is the time of the event.
  const minute = `${(await stat(file)).mtime.toISOString().slice(0, 16)}Z`
  const checkIn = person && `${minute},${toCell(person.externalId ?? person.subjectId)}`
  if (!checkIn) counts.withoutMatch++
  // A second picture of a person in one minute adds no row.
  else if (csv.includes(`\n${checkIn},`)) counts.repeated++
  else {
    const displayName = toCell(person.displayName ?? '')
    await addRow([checkIn, displayName, person.similarity, toCell(name)].join())
    counts.added++
  }
}

async function addRow(row) {
  await appendFile(csvFile, `${row}\n`)
  csv += `${row}\n`
}

/** Returns the enrolled person in a picture, or undefined. */
async function identify(bytes, name, requestId = idOf(bytes)) {
  const outcome = await facegate.try.identify(bytes, { minQuality: 40 }, { requestId })
  // A subject of the stored response was deleted, so that it contains no identities.
  if (outcome.isRedacted) return identify(bytes, name, idOf(requestId))
  if (outcome.ok) return outcome.value.bestMatch ?? undefined
  if (['NO_FACE_FOUND', 'LOW_QUALITY'].includes(outcome.error.code)) return undefined
  throw new Error(`${name}: ${outcome.error.message}`, { cause: outcome.error })
}

/** Returns a UUID of the content. A second run within a day is then not charged again. */
function idOf(content) {
  const hash = createHash('sha256').update(content).digest('hex')
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/u, '$1-$2-8$3-8$4-$5')
}

/** Returns a CSV cell. Spreadsheets run cells that begin with = + - or @ as formulas. */
function toCell(text) {
  // Some spreadsheets divide cells at semicolons, so a formula can begin after one.
  const safe = text.replaceAll(/(?<=^|[;,\t\r\n"])(?=[=+\-@\t\r])/gu, "'")
  return /[",\n\r]/u.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
