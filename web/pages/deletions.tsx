import { Page } from '../parts/page.tsx'

export function DeletionsPage() {
  return <Page title="Deletions" />
}
