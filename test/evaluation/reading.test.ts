import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createRateMeter, formatRate } from '../../src/cli/rate-meter.ts'
import { analyzeFile } from '../../src/evaluation/face-images.ts'
import { imagesInFlightMax, mapConcurrent } from '../../src/evaluation/map-concurrent.ts'
import { readCsv } from '../../src/evaluation/read-csv.ts'
import { groupsMax, readGroups } from '../../src/evaluation/verification/read-groups.ts'
import { ActionError, unavailable } from '../../src/lib/errors.ts'
import type { ImageAnalysis } from '../../src/vision/image-analysis.ts'

async function inFolder(useFolder: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-reading-'))
  try {
    await useFolder(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('A CSV file is read by column names, and each error names the line and the remedy', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 'list.csv')
    const read = async (text: string | Buffer) => {
      await writeFile(file, text)
      return readCsv(file, ['file', 'label'])
    }
    const rows = await read('\uFEFFlabel, file,note\r\n"live, day",a.jpg,\r\n\r\nprint,b.jpg,x\r\n')
    assert.deepEqual(
      rows.map(({ location, cells }) => [location, cells['file'], cells['label']]),
      [
        [`${file}, line 2`, 'a.jpg', 'live, day'],
        [`${file}, line 4`, 'b.jpg', 'print'],
      ],
    )
    const errors = [
      ['file\na.jpg\n', /list\.csv, line 1: the header has no column label; the first line must/u],
      ['file,label,file\na,b,c\n', /line 1: the column file occurs twice; remove one/u],
      ['file,label\na,b\nc\n', /line 3: the number of cells differs from the header; add/u],
      ['file,label\na,"b\nc,d\n', /a quotation mark is not closed; add the missing/u],
      ['file,label\na,b"c"\n', /line 2: a quotation mark is inside a cell; enclose/u],
      ['file,label\n', /line 2: there are no rows; add one line per entry/u],
      [
        Buffer.from('file,label\nM\u00fcller,b\n', 'latin1'),
        /is not UTF-8; save it as "CSV UTF-8"/u,
      ],
      [Buffer.from('file,label\na,b\n', 'utf16le'), /the header has no column file|is not UTF-8/u],
    ] as const
    for (const [text, message] of errors) await assert.rejects(read(text), message)
    await assert.rejects(
      readCsv(path.join(folder, 'none.csv'), ['file', 'label']),
      /cannot read .*none\.csv .*; create the file with the columns file, label/u,
    )
  })
})

test('An image that cannot be analyzed is a result, and a lost worker is tried twice', async () => {
  await inFolder(async (folder) => {
    const file = path.join(folder, 'image.jpg')
    await writeFile(file, 'an image')
    let attempts = 0
    const analyze = async (error: Error | undefined, failures: number): Promise<unknown> => {
      attempts = 0
      return analyzeFile(file, async () => {
        if (error && attempts++ < failures) throw error
        return intact
      })
    }
    const intact: ImageAnalysis = {
      width: 1,
      height: 1,
      orientationApplied: false,
      faceCount: 0,
      faceSidesPx: [],
      faces: [],
      timingsMs: {
        decode: 0,
        detect: 0,
        landmarks: 0,
        align: 0,
        embed: 0,
        liveness: 0,
        attributes: 0,
        picture: 0,
      },
      providers: {},
    }
    assert.equal(await analyze(undefined, 0), intact)
    assert.equal(await analyze(unavailable('processing failed, retry'), 1), intact)
    const failed = await analyze(unavailable('processing failed, retry'), 9)
    assert.deepEqual([failed, attempts], [{ unusable: 'ANALYSIS_FAILED' }, 2])
    assert.deepEqual(await analyze(new ActionError('IMAGE_TOO_SMALL', 'small'), 1), {
      unusable: 'IMAGE_TOO_SMALL',
    })
    await assert.rejects(analyze(new TypeError('a bug'), 1), /a bug/u)
    const neverCalled = () => Promise.reject(new Error('there is no image to analyze'))
    assert.deepEqual(await analyzeFile(path.join(folder, 'none.jpg'), neverCalled), {
      unusable: 'FILE_NOT_FOUND',
    })
    assert.deepEqual(await analyzeFile(folder, neverCalled), { unusable: 'FILE_NOT_READABLE' })
  })
})

test('Images are fed lazily, never more at a time than the limit', async () => {
  let [running, most] = [0, 0]
  const items = Array.from({ length: 5 * imagesInFlightMax }, (_, index) => index)
  const results = await mapConcurrent(
    items,
    async (item) => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running--
      return -item
    },
    () => undefined,
  )
  assert.equal(most, imagesInFlightMax)
  assert.deepEqual(
    results,
    items.map((item) => -item),
  )
})

test('Groups are read by person or by file, and each error names the line and the remedy', async () => {
  await inFolder(async (folder) => {
    const images = ['ada/1.jpg', 'ada/2.jpg', 'bea/1.jpg'].map((name) => ({
      file: path.join(folder, name),
      person: path.dirname(name),
    }))
    const read = async (text: string) => {
      await writeFile(path.join(folder, 'groups.csv'), text)
      return readGroups(folder, images)
    }
    assert.equal(await readGroups(folder, images), undefined, 'groups are optional')
    assert.deepEqual(await read('person,group\nada,old\nbea,new\nada,old\n'), {
      names: ['new', 'old'],
      indexes: [1, 1, 0],
      unmatched: [],
    })
    assert.deepEqual(await read('group,file\nday,./ada/1.jpg\nnight,ada/2.jpg\nday,x.jpg\n'), {
      names: ['day', 'night'],
      indexes: [0, 1, -1],
      unmatched: ['x.jpg'],
    })
    const many = (count: number): string =>
      ['person,group', 'ada,0', ...Array.from({ length: count - 1 }, (_, i) => `p${i},g${i}`)].join(
        '\n',
      )
    assert.equal((await read(many(groupsMax)))?.names.length, groupsMax)
    const errors = [
      [
        'name,group\nada,old\n',
        /line 1: the header has neither person nor file; the first line must/u,
      ],
      ['person,file,group\nada,a,old\n', /line 1: the header has both person and file/u],
      ['person,group\nada,\n', /groups\.csv, line 2: group is empty; write the group/u],
      ['person,group\n,old\n', /line 2: person is empty; name one or remove/u],
      ['person,group\nada,old\nada,new\n', /line 3: ada is already in the group old; keep one/u],
      [
        'person,group\nAda,old\n',
        /no line names an image or a person of the set \(the first is Ada\)/u,
      ],
      [many(groupsMax + 1), /has 51 groups; at most 50 are compared; merge some/u],
    ] as const
    for (const [text, message] of errors) await assert.rejects(read(text), message)
  })
})

test('The progress states the rate of the last half minute and the time left', () => {
  let ms = 0
  const meter = createRateMeter(() => ms)
  assert.equal(meter.measure(0, 1000), undefined, 'nothing is done')
  ms = 10_000
  assert.deepEqual(meter.measure(20, 1000), { perSecond: 2, leftSeconds: 490 })
  // The first ten seconds are outside the window now.
  for (let second = 11; second <= 60; second++) {
    ms = 1000 * second
    meter.measure(20 + 10 * (second - 10), 1000)
  }
  assert.deepEqual(meter.measure(520, 1000), { perSecond: 10, leftSeconds: 48 })
  assert.equal(
    formatRate({ perSecond: 10, leftSeconds: 48 }, 'images'),
    '10 images per second, 48 s left',
  )
  const slow = { perSecond: 0.25, leftSeconds: 3723 }
  assert.equal(formatRate(slow, 'images'), '0.3 images per second, 1 h 2 min left')
  assert.equal(formatRate({ ...slow, leftSeconds: 60 }, 'kB'), '0.3 kB per second, 1 min 0 s left')
})
