import { Page } from '../parts/page.tsx'

export function ModelsPage() {
  return <Page title="Models" />
}
