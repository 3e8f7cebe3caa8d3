import type { components } from '@trunkline/client';
import { choiceOf, choiceSays, choicesFor, type Mapped } from '../rules/mapping.ts';
import { Scrolled } from './scrolled.tsx';

interface MappingTableProps {
  rows: components['schemas']['ContactListUploadPreview']['rows'];
  wanted: Mapped;
  isFixed: boolean;
  onChoose: (at: number, choice: string) => void;
}

/** So many cells show what a column holds. */
const SHOWN = 3;

/** Which column is what. */
export function MappingTable({ rows, wanted: { columns, phones }, isFixed, onChoose }: MappingTableProps) {
  if (columns.length === 0) return null;
  const shown = columns.map((column, at) => ({ at, use: column.use, name: column.name || `column ${at + 1}` }));
  const holds = (at: number) =>
    [...new Set(rows.map(({ cells }) => cells[at]?.trim()).filter(Boolean))].slice(0, SHOWN);
  return (
    <div className="mt-5">
      <h3>Which column is what</h3>
      <Scrolled name="Which column is what">
        <thead className="label">
          <tr>
            <th scope="col">Column</th>
            <th scope="col">Is</th>
            {rows.length > 0 && <th scope="col">Holds</th>}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ at, use, name }) => {
            const choices = choicesFor(columns, phones, at);
            return (
              <tr key={`${at} ${name}`}>
                <th scope="row" className="max-w-40 break-words">
                  {name}
                </th>
                <td>
                  <select
                    aria-label={`${name} is`}
                    className={use === 'phone' ? 'font-semibold' : ''}
                    disabled={isFixed || use.startsWith('consent')}
                    value={choiceOf(columns, phones, at)}
                    onChange={(event) => onChoose(at, event.target.value)}
                  >
                    {choices.map((choice) => (
                      <option key={choice} value={choice}>
                        {choiceSays(choice)}
                      </option>
                    ))}
                  </select>
                </td>
                {rows.length > 0 && <td className="text-dim">{holds(at).join(' · ')}</td>}
              </tr>
            );
          })}
        </tbody>
      </Scrolled>
      <p className="label mt-1">
        A person is called at the first number of the row that can be called, in the order of choice.
      </p>
    </div>
  );
}
