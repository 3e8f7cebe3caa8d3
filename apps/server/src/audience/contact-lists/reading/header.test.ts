import { describe, expect, it } from 'vitest';
import { readHeader } from './header.ts';

const named = (header: string, options = {}) => {
  const { columns, phones, names, timezones, variables } = readHeader(header.split(','), 64, options);
  const of = (positions: readonly number[]) => positions.map((at) => columns[at]);
  return {
    phones: of(phones),
    names: of(names),
    timezones: of(timezones),
    variables: variables.map(({ name }) => name),
  };
};

describe('readHeader', () => {
  it.each([
    [
      'Google Contacts',
      'First Name,Middle Name,Last Name,Organization Name,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value',
      ['Phone 1 - Value', 'Phone 2 - Value'],
      ['First Name', 'Middle Name', 'Last Name'],
    ],
    [
      'Google Contacts of old',
      'Name,Given Name,Family Name,Group Membership,Phone 1 - Type,Phone 1 - Value,Phone 2 - Type,Phone 2 - Value',
      ['Phone 1 - Value', 'Phone 2 - Value'],
      ['Name'],
    ],
    [
      'HubSpot',
      'Record ID,First Name,Last Name,Email,Phone Number,Contact owner,Lead Status,Mobile Phone Number',
      ['Phone Number', 'Mobile Phone Number'],
      ['First Name', 'Last Name'],
    ],
    [
      'Salesforce, exported',
      'Id,AccountId,LastName,FirstName,Phone,Fax,MobilePhone,HomePhone,AssistantPhone',
      ['Phone', 'MobilePhone', 'HomePhone'],
      ['FirstName', 'LastName'],
    ],
    [
      'Salesforce, a report',
      'First Name,Last Name,Title,Account Name,Mailing Street,Phone,Fax,Mobile,Email',
      ['Phone', 'Mobile'],
      ['First Name', 'Last Name'],
    ],
    [
      'Pipedrive',
      'Person - Name,Person - Organization,Person - Email - Work,Person - Phone - Work,Person - Phone - Home,Person - Phone - Mobile',
      ['Person - Phone - Mobile', 'Person - Phone - Work', 'Person - Phone - Home'],
      ['Person - Name'],
    ],
    [
      'Outlook',
      "First Name,Middle Name,Last Name,Company,Assistant's Phone,Business Fax,Business Phone,Company Main Phone,Home Phone,Mobile Phone,Primary Phone",
      ['Mobile Phone', 'Primary Phone', 'Home Phone', 'Business Phone'],
      ['First Name', 'Middle Name', 'Last Name'],
    ],
    [
      'Zoho',
      'Record Id,Contact Owner,First Name,Last Name,Full Name,Account Name,Phone,Mobile,Asst Phone,Email Opt Out',
      ['Phone', 'Mobile'],
      ['Full Name'],
    ],
  ])('knows the columns of %s', (_, header, phones, names) => {
    expect(named(header)).toMatchObject({ phones, names });
  });

  it.each([
    ['Vorname,Nachname,Telefon,Zeitzone', ['Vorname', 'Nachname'], ['Zeitzone']],
    ['Nom,Prénom,Téléphone,Fuseau horaire', ['Prénom', 'Nom'], ['Fuseau horaire']],
    ['Nombre,Teléfono,Zona horaria', ['Nombre'], ['Zona horaria']],
    ['Nombre,Apellidos,Teléfono', ['Nombre', 'Apellidos'], []],
    ['Nome,Cognome,Cellulare,Fuso orario', ['Nome', 'Cognome'], ['Fuso orario']],
    ['Nome,Celular,Fuso horário', ['Nome'], ['Fuso horário']],
    ['Naam,Telefoon,Tijdzone', ['Naam'], ['Tijdzone']],
    ['Imię,Nazwisko,Telefon,Strefa czasowa', ['Imię', 'Nazwisko'], ['Strefa czasowa']],
    ['Ad Soyad,Telefon,Saat dilimi', ['Ad Soyad'], ['Saat dilimi']],
    ['Имя,Фамилия,Телефон,Часовой пояс', ['Имя', 'Фамилия'], ['Часовой пояс']],
    ['氏名,電話番号,タイムゾーン', ['氏名'], ['タイムゾーン']],
    ['姓名,电话,时区', ['姓名'], ['时区']],
    ['이름,전화번호,시간대', ['이름'], ['시간대']],
    ['שם מלא,טלפון,אזור זמן', ['שם מלא'], ['אזור זמן']],
    ['الاسم الكامل,الهاتف', ['الاسم الكامل'], []],
    ['Full Name,phone,TZ', ['Full Name'], ['TZ']],
    ['First name,Company name,phone', ['First name'], []],
  ])('finds names and time zones in %s', (header, names, timezones) => {
    expect(named(header)).toMatchObject({ names, timezones });
  });

  it('keeps as variables what had been variables', () => {
    expect(named('First Name,Last Name,phone,Mobile,TZ').variables).toEqual([
      'First Name',
      'Last Name',
      'Mobile',
      'TZ',
    ]);
    expect(named('name,phone,timezone').variables).toEqual([]);
  });

  it('takes a second phone for the person only if it is surely theirs', () => {
    expect(named('phone,Mobile,Home phone,Telefon 2').phones).toEqual(['phone', 'Mobile', 'Home phone', 'Telefon 2']);
    expect(named("phone,Assistant's phone,Emergency phone,Phone 1 - Label,Phone type,number").phones).toEqual([
      'phone',
    ]);
  });

  it('takes the columns that somebody names, in their order', () => {
    const options = { phoneColumns: ['work phone', 'b'], nameColumns: ['Last', 'First'], timezoneColumns: [] };
    expect(named('phone,b,Work Phone,First,Last,timezone', options)).toEqual({
      ...{ phones: ['Work Phone', 'b'], names: ['Last', 'First'], timezones: [] },
      variables: ['phone', 'b', 'First', 'Last', 'timezone'],
    });
    expect(() => named('phone,a', { nameColumns: ['b'] })).toThrow('No column is called "b", as nameColumns says.');
    expect(() => named('phone,a', { phoneColumns: ['a', 'b'] })).toThrow(
      'No column is called "b", as phoneColumns says.',
    );
  });
});
