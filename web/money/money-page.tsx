import { SimpleGrid } from '@mantine/core'
import { useApiQuery } from '../api/use-api.ts'
import { BudgetTable } from './budget-table.tsx'
import { PriceTable } from './price-table.tsx'
import { TopUpButton } from './top-up-button.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { StatCard } from '../components/stat-card.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { MoneyAmount } from './money-amount.tsx'
import { Page } from '../layout/page.tsx'
import { Panel } from '../layout/panel.tsx'

/** The wallet, the budget of each project, and the prices. */
export function MoneyPage() {
  const query = useApiQuery('/money')
  return (
    <Page
      title="Wallet and budgets"
      description="Allocate funds from the wallet to project budgets. Calls are charged to the budget of their project. Failed calls are not charged."
      actions={
        <>
          <LinkButton to="/money/ledger" variant="default" size="sm">
            View ledger
          </LinkButton>
          <TopUpButton />
        </>
      }
    >
      <QueryContent query={query}>
        {({ walletMicros, projects, prices }) => (
          <>
            <SimpleGrid cols={{ base: 1, sm: 3 }}>
              <StatCard
                label="Wallet"
                value={<MoneyAmount micros={walletMicros} />}
                note="Not allocated"
              />
              <StatCard
                label="Budgets"
                value={
                  <MoneyAmount micros={sumOf(projects.map((project) => project.balanceMicros))} />
                }
                note="Allocated, not spent"
              />
              <StatCard
                label="Spent"
                value={
                  <MoneyAmount micros={sumOf(projects.map((project) => project.spentMicros))} />
                }
                note="All time"
              />
            </SimpleGrid>
            <Panel title="Budgets">
              <BudgetTable projects={projects} />
            </Panel>
            <Panel title="Prices">
              <PriceTable prices={prices} />
            </Panel>
          </>
        )}
      </QueryContent>
    </Page>
  )
}

function sumOf(amounts: readonly string[]): bigint {
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n)
}
