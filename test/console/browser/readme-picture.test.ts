import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import sharp from 'sharp'
import { buildConsole } from '../../../web/build.ts'
import { skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { sampleAnalysisDelay, sendSampleUsage } from '../../support/docs/sample-usage.ts'
import { committedImagePath, meanDifference } from '../../support/docs/tutorial-images.ts'
import { outputDir } from '../../support/paths.ts'

/** The names of the pictures, and what each shows. */
const pictureNames = {
  overview: 'console.png',
  log: 'console-log.png',
  analytics: 'console-analytics.png',
} as const
const pictureBytesMax = 150_000
const isWriting = process.env['PICTURES'] === 'write'
/** Fonts and latencies differ between machines. Two runs differ by 0.3, another page by 9. */
const differenceMax = 5

describe('The pictures of the console in the documentation', { skip: skipWithoutBrowser }, () => {
  const clock = { nowMs: Date.parse('2026-11-20T18:20:00Z') }
  let consoleBrowser: ConsoleBrowser

  before(async () => {
    consoleBrowser = await openConsoleBrowser(
      {
        clock: () => clock.nowMs,
        onAnalyze: sampleAnalysisDelay(),
        environment: { STARTER_CREDIT_MICROS: '1000000' },
      },
      { viewport: { width: 1280, height: 1000 } },
    )
    await sendSampleUsage(consoleBrowser.testConsole, clock)
    await consoleBrowser.page.clock.setFixedTime(clock.nowMs)
  })
  after(() => consoleBrowser?.[Symbol.asyncDispose]())

  /** Returns a screenshot of the window without colours that few pixels have. */
  const takePicture = async (): Promise<Buffer> =>
    sharp(await consoleBrowser.page.screenshot())
      .png({ palette: true, colours: 128, compressionLevel: 9, effort: isWriting ? 10 : 1 })
      .toBuffer()

  /** Writes a picture of the window and compares it with the committed one. */
  const comparePicture = async (shown: keyof typeof pictureNames): Promise<void> => {
    const name = pictureNames[shown]
    const picture = await takePicture()
    await mkdir(path.join(outputDir, 'pictures'), { recursive: true })
    await writeFile(path.join(outputDir, 'pictures', name), picture)
    assert.ok(picture.length <= pictureBytesMax, `${picture.length} bytes`)
    if (isWriting) await writeFile(committedImagePath(name), picture)
    const committed = await readFile(committedImagePath(name))
    assert.ok(committed.length <= pictureBytesMax, `${committed.length} bytes`)
    const difference = await meanDifference(picture, committed)
    assert.ok(
      difference < differenceMax,
      `${name} differs by ${difference}: run this test with PICTURES=write`,
    )
  }

  test('The console is not built again for it if no source changed', async () => {
    assert.equal(await buildConsole(), 'fresh')
  })

  test('It shows the overview of a service with usage', async () => {
    const { page, driver, pageErrors, goto } = consoleBrowser
    await goto('/')
    await driver.waitForHeading('Overview')
    await page.locator('a.fg-chart-mark').first().waitFor()
    for (const text of ['Front door', 'Attendance terminal', 'Visitor kiosk', 'NO_FACE_FOUND'])
      await page.getByText(text).first().waitFor()
    await comparePicture('overview')
    await driver.open('API keys')
    await page.getByRole('cell', { name: 'Visitor kiosk camera', exact: true }).waitFor()
    const committed = await readFile(committedImagePath(pictureNames.overview))
    const otherDifference = await meanDifference(await takePicture(), committed)
    assert.ok(otherDifference > differenceMax, `another page differs by ${otherDifference}`)
    assert.deepEqual(pageErrors.messages, [])
  })

  test('It shows the request log with an explained failure', async () => {
    const { page, goto } = consoleBrowser
    await goto('/log?code=NO_FACE_FOUND')
    await page
      .getByRole('button', { name: /^Open svc/u })
      .first()
      .click()
    await page.getByRole('dialog').getByText('Remedy').waitFor()
    await comparePicture('log')
  })

  test('It shows the analysis of calls by project', async () => {
    const { page, driver, pageErrors, goto } = consoleBrowser
    await goto('/analytics?by=project')
    await driver.waitForHeading('Analytics')
    for (const chart of ['Calls over time', 'Spend over time', 'Latency', 'Similarity'])
      await page.locator(`figure[aria-label^="${chart}"] a`).first().waitFor()
    await comparePicture('analytics')
    assert.deepEqual(pageErrors.messages, [])
  })
})
