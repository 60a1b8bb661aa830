import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { serveStaticFiles } from '../../src/http/static-files.ts'
import { buildConsole } from '../../web/build.ts'
import { findChromium, openChromium, watchPageErrors } from '../support/console/chromium.ts'
import { startConsole, validPassword, type TestConsole } from '../support/console/test-console.ts'
import { sampleAnalysisDelay, sendSampleUsage } from '../support/docs/sample-usage.ts'
import { committedImagePath, meanDifference } from '../support/docs/tutorial-images.ts'
import { outputDir, rootDir } from '../support/paths.ts'

const executable = findChromium()
const skip = executable ? false : 'Chromium is not installed: the picture is not drawn'

const timeoutMs = Number(process.env['BROWSER_TIMEOUT_MS'] ?? 60_000)
const pictureName = 'console.png'
const pictureBytesMax = 150_000
/** Fonts and latencies differ between machines. Two runs differ by 0.3, another page by 9. */
const differenceMax = 5

describe('The picture of the console in the README', { skip }, () => {
  const clock = { nowMs: Date.parse('2026-11-20T18:20:00Z') }
  let testConsole: TestConsole
  let browser: Browser
  let page: Page

  before(async () => {
    await buildConsole()
    testConsole = await startConsole({
      clock: () => clock.nowMs,
      onAnalyze: sampleAnalysisDelay(),
      fallback: serveStaticFiles(path.join(rootDir, 'web', 'dist')),
      environment: { STARTER_CREDIT_MICROS: '1000000' },
    })
    await sendSampleUsage(testConsole, clock)
    browser = await openChromium(executable!)
    const viewport = { width: 1280, height: 1000 }
    const context = await browser.newContext({ viewport, reducedMotion: 'reduce' })
    page = await context.newPage()
    page.setDefaultTimeout(timeoutMs)
    await page.clock.setFixedTime(clock.nowMs)
  })
  after(async () => {
    await browser?.close()
    await testConsole?.[Symbol.asyncDispose]()
  })

  /** Returns a screenshot of the window without colours that few pixels have. */
  const takePicture = async (): Promise<Buffer> =>
    sharp(await page.screenshot())
      .png({ palette: true, colours: 128, compressionLevel: 9, effort: 10 })
      .toBuffer()

  test('It shows the overview of a service with usage', async () => {
    const { messages } = watchPageErrors(page, testConsole.url)
    await page.goto(`${testConsole.url}/`)
    await page.getByLabel('Name').fill('Olga')
    await page.getByLabel(/^Password(?: \*)?$/u).fill(validPassword)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.locator('.recharts-bar-rectangle').first().waitFor()
    for (const text of ['Front door', 'Attendance terminal', 'Visitor kiosk', 'NO_FACE_FOUND'])
      await page.getByText(text).first().waitFor()
    const overview = await takePicture()
    await mkdir(path.join(outputDir, 'pictures'), { recursive: true })
    await writeFile(path.join(outputDir, 'pictures', pictureName), overview)
    assert.ok(overview.length <= pictureBytesMax, `${overview.length} bytes`)
    const committed = await readFile(committedImagePath(pictureName))
    assert.ok(committed.length <= pictureBytesMax, `${committed.length} bytes`)
    const difference = await meanDifference(overview, committed)
    assert.ok(
      difference < differenceMax,
      `${pictureName} differs by ${difference}: copy test/output/pictures to docs/pictures`,
    )
    await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('cell', { name: 'Visitor kiosk camera', exact: true }).waitFor()
    const otherDifference = await meanDifference(await takePicture(), committed)
    assert.ok(otherDifference > differenceMax, `another page differs by ${otherDifference}`)
    assert.deepEqual(messages, [])
  })
})
