import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'chrome']

/** The Chromium of the system, if it has one. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter)
  const places = folders.flatMap((folder) => names.map((name) => path.join(folder, name)))
  return [process.env['CHROMIUM'] ?? '', ...places].find((place) => place && existsSync(place))
}

/** A browser without a window. The sandbox of Chromium does not work for root, as in a container. */
export function openChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** What went wrong in a page besides what it shows: faults, refused scripts, dialogs, other hosts. */
export type Faults = { readonly found: string[] }

export function watchFaults(page: Page, url: string): Faults {
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
  return { found }
}

const outputDir = path.join(import.meta.dirname, 'output', 'console')

/** Writes what a page looks like where git does not see it. */
export async function photograph(page: Page, name: string): Promise<void> {
  await mkdir(outputDir, { recursive: true })
  await page.screenshot({ path: path.join(outputDir, `${name}.png`), fullPage: true })
}
