import type { components } from '@trunkline/client';
import type { Upload } from '../rules/files.ts';
import { number } from '../rules/words.ts';

interface RejectedRowsProps {
  upload: Upload;
  preview: components['schemas']['ContactListUploadPreview'] | undefined;
}

const SHOWN = 20;

/** Which rows are left out, and where all of them stand with their reasons. */
export function RejectedRows({ upload, preview }: RejectedRowsProps) {
  const { errors = [], errorReportUrl } = upload;
  if (!preview || !errorReportUrl) return null;
  const told = preview.rows.filter((each) => each.errors).map(({ row }) => row);
  const others = errors.filter((row) => !told.includes(row));
  return (
    <section aria-labelledby="left-out" className="mt-5 max-w-prose">
      <h3 id="left-out">Rows that are left out</h3>
      {others.length > 0 && (
        <p>
          {told.length > 0 ? 'Besides those above: ' : ''}
          {others.length === 1 ? 'row' : 'rows'} {others.slice(0, SHOWN).map(number).join(', ')}
          {others.length > SHOWN && ' and more'}.
        </p>
      )}
      <p>
        <a href={errorReportUrl} className="link" download>
          All of them with their reasons
        </a>
        , as a CSV file for your spreadsheet. Mend them in your file and begin anew, or import the others now.
      </p>
    </section>
  );
}
