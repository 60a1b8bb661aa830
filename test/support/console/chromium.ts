import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import axe from 'axe-core'
import { chromium, type Browser, type Page } from 'playwright-core'
import { outputDir as testOutputDir } from '../paths.ts'

const executableNames = ['chromium', 'chromium-browser', 'google-chrome', 'chrome']

/** The Chromium of the system, if it has one. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter)
  const places = folders.flatMap((folder) => executableNames.map((name) => path.join(folder, name)))
  return [process.env['CHROMIUM'] ?? '', ...places].find((place) => place && existsSync(place))
}

/** No sandbox for root; a made-up camera that may be used without asking. */
const chromiumFlags = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
] as const

/** A browser without a window. The sandbox of Chromium does not work for root, as in a container. */
export function openChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: [...chromiumFlags] })
}

/** What went wrong in a page besides what it shows: faults, refused scripts, dialogs, other hosts. */
export type PageErrors = { readonly messages: string[] }

export function watchPageErrors(page: Page, url: string): PageErrors {
  const found: string[] = []
  page.on('pageerror', (error) => found.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    found.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (message.type() === 'error') found.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(url) || /^(?:blob|data):/u.test(request.url())
    if (!isOwn || request.url().includes('canary')) found.push(`request: ${request.url()}`)
  })
  return { messages: found }
}

const screenshotsDir = path.join(testOutputDir, 'console')

/** Writes what a page looks like where git does not see it. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  await mkdir(screenshotsDir, { recursive: true })
  await page.screenshot({ path: path.join(screenshotsDir, `${name}.png`), fullPage: true })
}

/** Whether a page does not scroll sideways. Charts take a moment to follow the width. */
export async function fitsWidth(page: Page, widthPx: number, patienceMs: number): Promise<boolean> {
  for (const untilMs = Date.now() + patienceMs; Date.now() < untilMs; await setTimeout(50))
    if ((await page.evaluate<number>('document.documentElement.scrollWidth')) <= widthPx)
      return true
  return false
}

/** What axe calls serious or critical, with the places. The dark scheme differs in its colours alone. */
export async function seriousViolations(page: Page, scheme: 'light' | 'dark'): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(
    async (only) => {
      // Axe puts itself into the page under this name.
      const inPage = globalThis as unknown as { readonly axe: AxeGlobal }
      const rules = only === undefined ? {} : { runOnly: [only] }
      const { violations } = await inPage.axe.run({ ...rules, resultTypes: ['violations'] })
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`)
    },
    scheme === 'dark' ? 'color-contrast' : undefined,
  )
}

type AxeGlobal = {
  readonly run: (options: object) => Promise<{
    readonly violations: readonly {
      readonly id: string
      readonly impact: string
      readonly nodes: readonly { readonly html: string }[]
    }[]
  }>
}
