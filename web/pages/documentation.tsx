import { Page } from '../parts/page.tsx'

export function DocumentationPage() {
  return <Page title="Documentation" />
}
