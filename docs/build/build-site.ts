import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pageFiles, rootDir } from './contents.ts'
import { renderHtml } from './render-html.ts'
import { renderPage } from './render-page.ts'
import { parseOutline } from './page-outline.ts'
import { pagePathOf } from './page-path.ts'

/**
 * Writes the site: HTML pages and one style sheet, without scripts and external resources. Browsers
 * can open it from the disk, and every web server can serve it.
 *
 * @param folder the target folder. Its content is deleted first.
 */
export async function buildSite(folder: string): Promise<void> {
  const texts = await Promise.all(
    pageFiles.map(
      async (file) => [file, await readFile(path.join(rootDir, file), 'utf8')] as const,
    ),
  )
  const titles = Object.fromEntries(texts.map(([file, text]) => [file, parseOutline(text).title]))
  await rm(folder, { recursive: true, force: true })
  for (const [file, text] of texts) {
    const target = path.join(folder, pagePathOf(file))
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, renderPage({ file, titles, body: renderHtml(file, text) }))
  }
  await cp(path.join(import.meta.dirname, 'style.css'), path.join(folder, 'style.css'))
  await cp(path.join(rootDir, 'docs', 'pictures'), path.join(folder, 'docs', 'pictures'), {
    recursive: true,
  })
}
