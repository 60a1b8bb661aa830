import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { listImportEntries } from '../../../src/cli/import/list-entries.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-lists-'))
})
after(() => rm(folder, { recursive: true }))

async function readList(content: string | Buffer) {
  const list = path.join(folder, 'list.csv')
  await writeFile(list, content)
  return listImportEntries(list)
}

test('a list that cannot be read exactly is refused with its line and the remedy', async () => {
  const names = 'externalId,file\nmüller,mia.jpg\nmöller,other.jpg\n'
  const encoding = /list\.csv is not UTF-8; save it as "CSV UTF-8"$/u
  const refusals: readonly (readonly [content: string | Buffer, message: RegExp])[] = [
    [Buffer.from(names, 'latin1'), encoding],
    [Buffer.from(`\uFEFF${names}`, 'utf16le'), encoding],
    [names.replaceAll(',', ';'), /list\.csv, line 1: .*with commas between all columns$/u],
    ['externalId,externalId,file\na,b,mia.jpg\n', /line 1: the column externalId occurs twice/u],
    ['externalId,file\na,mia.jpg\n\nb\n', /list\.csv, line 4: the number of cells differs/u],
    ['externalId,file\na,mia.jpg\n,ben.jpg\n', /list\.csv, line 3: the externalId is empty$/u],
    ['externalId,file\na,\n', /list\.csv, line 2: the file is empty$/u],
    ['externalId,file\n', /list\.csv, line 2: there are no rows; add one line per entry/u],
  ]
  for (const [content, message] of refusals)
    await assert.rejects(readList(content), { message }, String(message))
})

test('a list in UTF-8 is read with and without a byte order mark and with empty lines', async () => {
  const content = 'externalId,file\r\nmüller,mia.jpg\r\n\r\nmöller,other.jpg\r\n\r\n'
  for (const text of [content, `\uFEFF${content}`]) {
    const entries = await readList(text)
    assert.deepEqual(
      entries.map(({ externalId, file }) => [externalId, path.basename(file)]),
      [
        ['müller', 'mia.jpg'],
        ['möller', 'other.jpg'],
      ],
    )
  }
})
