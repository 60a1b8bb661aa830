import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { chromium, type Browser, type Page } from 'playwright-core'
import { outputDir as testOutputDir } from '../../paths.ts'
import { shareService } from '../../shared-service.ts'
import { contrastFindings, loadAxe, type CheckedStyles } from './contrast.ts'

/** The build without a user interface takes a quarter less processor time than the others. */
const executableNames = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'chrome',
]

/** Returns the path of the installed Chromium, if there is one. */
function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter)
  const paths = executableNames.flatMap((name) => folders.map((folder) => path.join(folder, name)))
  return [process.env['CHROMIUM'] ?? '', ...paths].find((file) => file && existsSync(file))
}

const executablePath = findChromium()

/** Why a test in a browser is skipped, or false. */
export const skipWithoutBrowser = executablePath ? false : 'Chromium is not installed'

/** The longest time of one step in the browser. */
export const stepTimeoutMs = Number(process.env['BROWSER_TIMEOUT_MS'] ?? 60_000)

/**
 * Parts of the address bar that each new window loads as pages, with a process for them, although a
 * headless window shows none of it. The option replaces that of Playwright, which includes the first.
 */
const disabledFeatures = [
  'AimEnabled',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
]

/** No sandbox, which does not work for root, as in a container; a fake camera with permission. */
const chromiumFlags = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  `--disable-features=${disabledFeatures.join(',')}`,
] as const

/** Starts a headless browser. @throws Error if Chromium is not installed. */
export function openChromium(): Promise<Browser> {
  if (!executablePath) throw new Error('Chromium is not installed')
  return chromium.launch({ executablePath, args: [...chromiumFlags] })
}

/** The browser that the files of a process share; each opens windows without common storage. */
export const sharedChromium = shareService(openChromium)

/** Script errors, blocked scripts, dialogs and requests to other hosts of a page. */
export type PageErrors = { readonly messages: string[] }

export function watchPageErrors(page: Page, url: string): PageErrors {
  const messages: string[] = []
  page.on('pageerror', (error) => messages.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    messages.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (message.type() === 'error')
      messages.push(`console: ${message.location().url} ${message.text()}`)
  })
  page.on('request', (request) => {
    const isOwn = request.url().startsWith(url) || /^(?:blob|data):/u.test(request.url())
    if (!isOwn || request.url().includes('canary')) messages.push(`request: ${request.url()}`)
  })
  return { messages }
}

const screenshotsDir = path.join(testOutputDir, 'console')

/**
 * With `SCREENSHOTS=write`, saves a screenshot in the test output folder, which git ignores. No test
 * reads it.
 */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (process.env['SCREENSHOTS'] !== 'write') return
  await mkdir(screenshotsDir, { recursive: true })
  await page.screenshot({ path: path.join(screenshotsDir, `${name}.png`), fullPage: true })
}

/** Waits until a page fits the width: charts adapt to a new width with a delay. */
export async function fitsWidth(page: Page, widthPx: number): Promise<boolean> {
  for (const endMs = Date.now() + stepTimeoutMs; Date.now() < endMs; await setTimeout(50))
    if ((await page.evaluate<number>('document.documentElement.scrollWidth')) <= widthPx)
      return true
  return false
}

/**
 * Returns the findings of axe of every level, best practices included, with their elements. The dark
 * scheme is checked for contrast only: it differs only in its colours.
 *
 * @param checked the styles of texts whose contrast was sufficient on earlier pages of the scheme.
 */
export async function accessibilityFindings(
  page: Page,
  scheme: 'light' | 'dark',
  checked: CheckedStyles = new Set(),
): Promise<string[]> {
  await loadAxe(page)
  await page.evaluate(finishedTransitionsScript)
  const contrast = await contrastFindings(page, checked)
  if (scheme === 'dark') return contrast
  // A button behind an open dialog cannot be pressed, and the edge of the dialog can cover a part of it.
  const others = await page.evaluate<string[]>(`axe.run(${JSON.stringify(allButContrast)})
    .then(({ violations }) => violations.flatMap(({ id, impact, nodes }) => {
      const dialog = document.querySelector('[aria-modal=true]')
      const found = nodes.filter(({ target }) => id !== 'target-size' || !dialog ||
        dialog.contains(document.querySelector(target[0])))
      return found.length === 0 ? [] :
        [id + ' (' + impact + '): ' + found.map(({ html }) => html.slice(0, 160)).join(' | ')]
    }))`)
  const unnamed = await page.evaluate<string[]>(unnamedChartsScript)
  return [...others, ...unnamed.map((html) => `without a name: ${html}`), ...contrast]
}

/** Charts and their keyboard layers, which axe does not require to have a name. */
const unnamedChartsScript = `[...document.querySelectorAll('figure, svg[role]')]
  .filter((element) => !element.getAttribute('aria-label'))
  .map(({ outerHTML }) => outerHTML.slice(0, 160))`

/** Waits until all transitions have ended, because the colours in between have less contrast. */
const finishedTransitionsScript = `new Promise(requestAnimationFrame)
  .then(() => Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
    .map(({ finished }) => finished)))
  .then(() => undefined)`

/**
 * The size of targets (WCAG 2.2) is not among the rules that axe enables by default. The enabled rules
 * read neither style sheets nor media files, which axe otherwise loads first.
 */
const allButContrast = {
  resultTypes: ['violations'],
  preload: false,
  rules: { 'target-size': { enabled: true }, 'color-contrast': { enabled: false } },
}
