"""The companies of the sandbox and the search for them.

Names, symbols, BSE codes and ISINs are real. Prices and market capitalizations are only plausible:
the sandbox is not a source of market data.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

# NSE symbol | BSE code (empty where not listed) | ISIN | name | industry | price | crores
COMPANIES = """\
RELIANCE|500325|INE002A01018|Reliance Industries Ltd|Petroleum Products|1545.60|2091000
HDFCBANK|500180|INE040A01034|HDFC Bank Ltd|Banks|998.20|1535000
BHARTIARTL|532454|INE397D01024|Bharti Airtel Ltd|Telecom - Services|2160.40|1296000
TCS|532540|INE467B01029|Tata Consultancy Services Ltd|IT - Software|3145.30|1138000
ICICIBANK|532174|INE090A01021|ICICI Bank Ltd|Banks|1378.10|985000
SBIN|500112|INE062A01020|State Bank of India|Banks|980.55|905000
INFY|500209|INE009A01021|Infosys Ltd|IT - Software|1544.00|641500
BAJFINANCE|500034|INE296A01032|Bajaj Finance Ltd|Finance|1008.70|627600
HINDUNILVR|500696|INE030A01027|Hindustan Unilever Ltd|Diversified FMCG|2433.20|571700
LT|500510|INE018A01030|Larsen & Toubro Ltd|Construction|4028.50|554100
ITC|500875|INE154A01025|ITC Ltd|Diversified FMCG|408.15|511300
MARUTI|532500|INE585B01010|Maruti Suzuki India Ltd|Automobiles|15950.00|501500
M&M|500520|INE101A01026|Mahindra & Mahindra Ltd|Automobiles|3747.80|466000
HCLTECH|532281|INE860A01027|HCL Technologies Ltd|IT - Software|1609.60|436800
KOTAKBANK|500247|INE237A01036|Kotak Mahindra Bank Ltd|Banks|2088.40|415300
SUNPHARMA|524715|INE044A01036|Sun Pharmaceutical Industries Ltd|Pharmaceuticals & Biotechnology|1780.70|427200
AXISBANK|532215|INE238A01034|Axis Bank Ltd|Banks|1275.60|395900
TITAN|500114|INE280A01028|Titan Company Ltd|Consumer Durables|3905.70|346700
ULTRACEMCO|532538|INE481G01011|UltraTech Cement Ltd|Cement & Cement Products|11650.00|343300
NTPC|532555|INE733E01010|NTPC Ltd|Power|326.20|316300
BAJAJFINSV|532978|INE918I01026|Bajaj Finserv Ltd|Finance|2072.50|331100
ADANIPORTS|532921|INE742F01042|Adani Ports and Special Economic Zone Ltd|Transport Infrastructure|1498.20|323600
ONGC|500312|INE213A01029|Oil & Natural Gas Corporation Ltd|Oil|248.20|312200
ETERNAL|543320|INE758T01015|Eternal Ltd|Retailing|302.65|292100
JSWSTEEL|500228|INE019A01038|JSW Steel Ltd|Ferrous Metals|1150.90|281400
HAL|541154|INE066F01020|Hindustan Aeronautics Ltd|Aerospace & Defense|4720.60|315700
ADANIENT|512599|INE423A01024|Adani Enterprises Ltd|Metals & Minerals Trading|2420.30|279300
POWERGRID|532898|INE752E01010|Power Grid Corporation of India Ltd|Power|276.85|257500
BEL|500049|INE263A01024|Bharat Electronics Ltd|Aerospace & Defense|417.40|305100
WIPRO|507685|INE075A01022|Wipro Ltd|IT - Software|244.85|256700
TATAMOTORS|500570|INE155A01022|Tata Motors Ltd|Automobiles|361.40|133000
COALINDIA|533278|INE522F01014|Coal India Ltd|Consumable Fuels|377.60|232700
BAJAJ-AUTO|532977|INE917I01010|Bajaj Auto Ltd|Automobiles|8950.00|249900
NESTLEIND|500790|INE239A01024|Nestle India Ltd|Food Products|1271.60|245200
ASIANPAINT|500820|INE021A01026|Asian Paints Ltd|Consumer Durables|2870.50|275300
TATASTEEL|500470|INE081A01020|Tata Steel Ltd|Ferrous Metals|168.35|210100
INDIGO|539448|INE646L01027|InterGlobe Aviation Ltd|Transport Services|5840.50|225700
GRASIM|500300|INE047A01021|Grasim Industries Ltd|Cement & Cement Products|2740.60|186500
EICHERMOT|505200|INE066A01021|Eicher Motors Ltd|Automobiles|7230.00|198300
JIOFIN|543940|INE758E01017|Jio Financial Services Ltd|Finance|302.95|192500
SBILIFE|540719|INE123W01016|SBI Life Insurance Company Ltd|Insurance|2020.40|202600
TRENT|500251|INE849A01020|Trent Ltd|Retailing|4380.20|155700
HINDALCO|500440|INE038A01020|Hindalco Industries Ltd|Non - Ferrous Metals|777.80|174800
VEDL|500295|INE205A01025|Vedanta Ltd|Diversified Metals|496.95|194300
HDFCLIFE|540777|INE795G01014|HDFC Life Insurance Company Ltd|Insurance|766.45|165300
DIVISLAB|532488|INE361B01024|Divi's Laboratories Ltd|Pharmaceuticals & Biotechnology|6430.50|170700
DLF|532868|INE271C01023|DLF Ltd|Realty|735.40|182000
PIDILITIND|500331|INE318A01026|Pidilite Industries Ltd|Chemicals & Petrochemicals|1478.20|150400
TATAPOWER|500400|INE245A01021|Tata Power Co. Ltd|Power|386.75|123600
IOC|530965|INE242A01010|Indian Oil Corporation Ltd|Petroleum Products|167.25|236200
HINDZINC|500188|INE267A01025|Hindustan Zinc Ltd|Non - Ferrous Metals|471.80|199300
BPCL|500547|INE029A01011|Bharat Petroleum Corporation Ltd|Petroleum Products|361.05|156600
TECHM|532755|INE669C01036|Tech Mahindra Ltd|IT - Software|1462.40|143300
GODREJCP|532424|INE102D01028|Godrej Consumer Products Ltd|Personal Products|1130.90|115700
BRITANNIA|500825|INE216A01030|Britannia Industries Ltd|Food Products|5830.50|140400
AMBUJACEM|500425|INE079A01024|Ambuja Cements Ltd|Cement & Cement Products|551.30|135800
CIPLA|500087|INE059A01026|Cipla Ltd|Pharmaceuticals & Biotechnology|1513.20|122200
DRREDDY|500124|INE089A01031|Dr. Reddy's Laboratories Ltd|Pharmaceuticals & Biotechnology|1246.10|104000
BANKBARODA|532134|INE028A01039|Bank of Baroda|Banks|291.45|150700
SHRIRAMFIN|511218|INE721A01047|Shriram Finance Ltd|Finance|851.65|160200
PNB|532461|INE160A01022|Punjab National Bank|Banks|121.60|139800
GAIL|532155|INE129A01019|GAIL (India) Ltd|Gas|183.40|120600
TVSMOTOR|532343|INE494B01023|TVS Motor Company Ltd|Automobiles|3450.10|163900
CHOLAFIN|511243|INE121A01024|Cholamandalam Investment and Finance Company Ltd|Finance|1705.20|143700
APOLLOHOSP|508869|INE437A01024|Apollo Hospitals Enterprise Ltd|Healthcare Services|7420.00|106700
ADANIPOWER|533096|INE814H01029|Adani Power Ltd|Power|148.85|287000
ADANIGREEN|541450|INE364U01010|Adani Green Energy Ltd|Power|1075.40|177100
HAVELLS|517354|INE176B01034|Havells India Ltd|Consumer Durables|1447.50|90700
SIEMENS|500550|INE003A01024|Siemens Ltd|Electrical Equipment|3170.40|112900
MOTHERSON|517334|INE775A01035|Samvardhana Motherson International Ltd|Auto Components|110.15|116300
LODHA|543287|INE670K01029|Lodha Developers Ltd|Realty|1217.70|121600
CANBK|532483|INE476A01022|Canara Bank|Banks|147.80|134100
PFC|532810|INE134E01011|Power Finance Corporation Ltd|Finance|371.15|122500
RECLTD|532955|INE020B01018|REC Ltd|Finance|356.70|93900
VBL|540180|INE200M01039|Varun Beverages Ltd|Beverages|459.80|155500
UNIONBANK|532477|INE692A01016|Union Bank of India|Banks|153.55|117200
JINDALSTEL|532286|INE749A01030|Jindal Steel Ltd|Ferrous Metals|1062.40|108400
ICICIGI|540716|INE765G01017|ICICI Lombard General Insurance Company Ltd|Insurance|1990.60|99100
TATACONSUM|500800|INE192A01025|Tata Consumer Products Ltd|Agricultural Food|1178.90|116700
DABUR|500096|INE016A01026|Dabur India Ltd|Personal Products|520.75|92400
BOSCHLTD|500530|INE323A01026|Bosch Ltd|Auto Components|37150.00|109600
MAXHEALTH|543220|INE027H01010|Max Healthcare Institute Ltd|Healthcare Services|1117.30|108600
ABB|500002|INE117A01022|ABB India Ltd|Electrical Equipment|5070.20|107400
CGPOWER|500093|INE067A01029|CG Power and Industrial Solutions Ltd|Electrical Equipment|715.60|112700
INDHOTEL|500850|INE053A01029|Indian Hotels Co. Ltd|Leisure Services|738.85|105200
HEROMOTOCO|500182|INE158A01026|Hero MotoCorp Ltd|Automobiles|5830.40|116600
POLYCAB|542652|INE455K01017|Polycab India Ltd|Industrial Products|7480.00|112600
SHREECEM|500387|INE070A01015|Shree Cement Ltd|Cement & Cement Products|26550.00|95800
NAUKRI|532777|INE663F01032|Info Edge (India) Ltd|Retailing|1325.40|85900
ZYDUSLIFE|532321|INE010B01027|Zydus Lifesciences Ltd|Pharmaceuticals & Biotechnology|944.20|95000
TORNTPHARM|500420|INE685A01028|Torrent Pharmaceuticals Ltd|Pharmaceuticals & Biotechnology|3790.60|128300
HDFCAMC|541729|INE127D01025|HDFC Asset Management Company Ltd|Capital Markets|5370.80|114900
LUPIN|500257|INE326A01037|Lupin Ltd|Pharmaceuticals & Biotechnology|2030.50|92700
CUMMINSIND|500480|INE298A01020|Cummins India Ltd|Industrial Products|4330.20|120000
BHEL|500103|INE257A01026|Bharat Heavy Electricals Ltd|Electrical Equipment|283.55|98700
IDEA|532822|INE669E01016|Vodafone Idea Ltd|Telecom - Services|10.47|113400
IRFC|543257|INE053F01010|Indian Railway Finance Corporation Ltd|Finance|118.95|155500
INDUSTOWER|534816|INE121J01017|Indus Towers Ltd|Telecom - Services|404.30|106700
MUTHOOTFIN|533398|INE414G01012|Muthoot Finance Ltd|Finance|3690.40|148200
PERSISTENT|533179|INE262H01021|Persistent Systems Ltd|IT - Software|6330.00|99000
MARICO|531642|INE196A01026|Marico Ltd|Agricultural Food|745.30|96700
SRF|503806|INE647A01010|SRF Ltd|Chemicals & Petrochemicals|2830.70|83900
SOLARINDS|532725|INE343H01029|Solar Industries India Ltd|Chemicals & Petrochemicals|13650.00|123500
ASHOKLEY|500477|INE208A01029|Ashok Leyland Ltd|Commercial Vehicles|148.30|87100
SUZLON|532667|INE040H01021|Suzlon Energy Ltd|Electrical Equipment|56.42|76700
YESBANK|532648|INE528G01035|Yes Bank Ltd|Banks|22.81|71600
PAYTM|543396|INE982J01020|One 97 Communications Ltd|Fintech|1286.70|82200
POLICYBZR|543390|INE417T01026|PB Fintech Ltd|Fintech|1810.40|83100
DMART|540376|INE192R01011|Avenue Supermarts Ltd|Retailing|4010.20|260900
NYKAA|543384|INE388Y01029|FSN E-Commerce Ventures Ltd|Retailing|264.80|75700
DIXON|540699|INE935N01020|Dixon Technologies (India) Ltd|Consumer Durables|15420.00|93500
IRCTC|542830|INE335Y01020|Indian Railway Catering & Tourism Corporation Ltd|Leisure Services|698.45|55900
RVNL|542649|INE415G01027|Rail Vikas Nigam Ltd|Construction|323.60|67500
NHPC|533098|INE848E01016|NHPC Ltd|Power|79.85|80200
SAIL|500113|INE114A01011|Steel Authority of India Ltd|Ferrous Metals|138.35|57100
NMDC|526371|INE584A01023|NMDC Ltd|Minerals & Mining|74.90|65900
HINDPETRO|500104|INE094A01015|Hindustan Petroleum Corporation Ltd|Petroleum Products|460.15|97900
OIL|533106|INE274J01014|Oil India Ltd|Oil|434.50|70700
COFORGE|532541|INE591G01025|Coforge Ltd|IT - Software|1845.60|61800
MPHASIS|526299|INE356A01018|Mphasis Ltd|IT - Software|2710.80|51600
FEDERALBNK|500469|INE171A01029|Federal Bank Ltd|Banks|248.30|61100
IDFCFIRSTB|539437|INE092T01019|IDFC First Bank Ltd|Banks|79.95|68700
AUBANK|540611|INE949L01017|AU Small Finance Bank Ltd|Banks|925.40|69100
INDUSINDBK|532187|INE095A01012|IndusInd Bank Ltd|Banks|838.60|65300
BANKINDIA|532149|INE084A01016|Bank of India|Banks|146.25|66600
VOLTAS|500575|INE226A01021|Voltas Ltd|Consumer Durables|1345.70|44500
AUROPHARMA|524804|INE406A01037|Aurobindo Pharma Ltd|Pharmaceuticals & Biotechnology|1216.40|70600
BIOCON|532523|INE376G01013|Biocon Ltd|Pharmaceuticals & Biotechnology|417.90|55900
ALKEM|539523|INE540L01014|Alkem Laboratories Ltd|Pharmaceuticals & Biotechnology|5730.50|68500
UPL|512070|INE628A01036|UPL Ltd|Fertilizers & Agrochemicals|757.10|63900
PIIND|523642|INE603J01030|PI Industries Ltd|Fertilizers & Agrochemicals|3560.20|54000
COLPAL|500830|INE259A01022|Colgate Palmolive (India) Ltd|Personal Products|2180.40|59300
PAGEIND|532827|INE761H01022|Page Industries Ltd|Textiles & Apparels|38950.00|43400
MRF|500290|INE883A01011|MRF Ltd|Auto Components|155250.00|65800
BALKRISIND|502355|INE787D01026|Balkrishna Industries Ltd|Auto Components|2310.60|44700
ESCORTS|500495|INE042A01014|Escorts Kubota Ltd|Commercial Vehicles|3760.90|42100
EXIDEIND|500086|INE302A01020|Exide Industries Ltd|Auto Components|378.25|32200
CONCOR|531344|INE111A01025|Container Corporation of India Ltd|Transport Services|516.20|39300
PETRONET|532522|INE347G01014|Petronet LNG Ltd|Gas|276.80|41500
IGL|532514|INE203G01027|Indraprashtha Gas Ltd|Gas|207.35|29000
TATACOMM|500483|INE151A01013|Tata Communications Ltd|Telecom - Services|1856.70|52900
TATAELXSI|500408|INE670A01012|Tata Elxsi Ltd|IT - Software|5240.40|32600
TATACHEM|500770|INE092A01019|Tata Chemicals Ltd|Chemicals & Petrochemicals|802.35|20400
LICI|543526|INE0J1Y01017|Life Insurance Corporation of India|Insurance|901.35|570100
LICHSGFIN|500253|INE115A01026|LIC Housing Finance Ltd|Finance|556.40|30600
SBICARD|543066|INE018E01016|SBI Cards and Payment Services Ltd|Finance|866.10|82400
OBEROIRLTY|533273|INE093I01010|Oberoi Realty Ltd|Realty|1693.20|61600
GODREJPROP|533150|INE484J01027|Godrej Properties Ltd|Realty|2110.80|63600
PRESTIGE|533274|INE811K01011|Prestige Estates Projects Ltd|Realty|1702.50|73300
JUBLFOOD|533155|INE797F01020|Jubilant Foodworks Ltd|Leisure Services|601.70|39700
BATAINDIA|500043|INE176A01028|Bata India Ltd|Consumer Durables|1012.60|13000
ZEEL|505537|INE256A01028|Zee Entertainment Enterprises Ltd|Entertainment|101.25|9700
SUNTV|532733|INE424H01027|Sun TV Network Ltd|Entertainment|563.80|22200
PVRINOX|532689|INE191H01014|PVR Inox Ltd|Entertainment|1105.40|10900
GLENMARK|532296|INE935A01035|Glenmark Pharmaceuticals Ltd|Pharmaceuticals & Biotechnology|1860.30|52500
LAURUSLABS|540222|INE947Q01028|Laurus Labs Ltd|Pharmaceuticals & Biotechnology|1010.20|54500
MCX|534091|INE745G01043|Multi Commodity Exchange of India Ltd|Capital Markets|10050.00|51200
BSE||INE118H01025|BSE Ltd|Capital Markets|2845.60|117000
CDSL||INE736A01011|Central Depository Services (India) Ltd|Capital Markets|1590.30|33200
IEX|540750|INE022Q01020|Indian Energy Exchange Ltd|Capital Markets|139.15|12400
KPITTECH|542651|INE04I401011|KPIT Technologies Ltd|IT - Software|1214.60|33300
LTIM|540005|INE214T01019|LTIMindtree Ltd|IT - Software|5980.30|177200
OFSS|532466|INE881D01027|Oracle Financial Services Software Ltd|IT - Software|8160.00|71000
ACC|500410|INE012A01025|ACC Ltd|Cement & Cement Products|1846.20|34700
DALBHARAT|542216|INE00R701025|Dalmia Bharat Ltd|Cement & Cement Products|2008.50|37700
BHARATFORG|500493|INE465A01025|Bharat Forge Ltd|Industrial Products|1418.90|67800
TATAINVEST|501301|INE672A01026|Tata Investment Corporation Ltd|Finance|781.30|39500
TATATECH|544028|INE142M01025|Tata Technologies Ltd|IT - Software|678.40|27500
TTML|532371|INE517B01013|Tata Teleservices (Maharashtra) Ltd|Telecom - Services|52.18|10200
NATIONALUM|532234|INE139A01034|National Aluminium Co. Ltd|Non - Ferrous Metals|258.65|47500
|503681|INE927X01018|Elcid Investments Ltd|Finance|131500.00|2630
"""

# industry | sector
_INDUSTRIES = """\
Aerospace & Defense|Capital Goods
Agricultural Food|Fast Moving Consumer Goods
Auto Components|Automobile and Auto Components
Automobiles|Automobile and Auto Components
Banks|Financial Services
Beverages|Fast Moving Consumer Goods
Capital Markets|Financial Services
Cement & Cement Products|Construction Materials
Chemicals & Petrochemicals|Chemicals
Commercial Vehicles|Capital Goods
Construction|Construction
Consumable Fuels|Oil, Gas & Consumable Fuels
Consumer Durables|Consumer Durables
Diversified FMCG|Fast Moving Consumer Goods
Diversified Metals|Metals & Mining
Electrical Equipment|Capital Goods
Entertainment|Media, Entertainment & Publication
Ferrous Metals|Metals & Mining
Fertilizers & Agrochemicals|Chemicals
Finance|Financial Services
Fintech|Financial Services
Food Products|Fast Moving Consumer Goods
Gas|Oil, Gas & Consumable Fuels
Healthcare Services|Healthcare
IT - Software|Information Technology
Industrial Products|Capital Goods
Insurance|Financial Services
Leisure Services|Consumer Services
Metals & Minerals Trading|Metals & Mining
Minerals & Mining|Metals & Mining
Non - Ferrous Metals|Metals & Mining
Oil|Oil, Gas & Consumable Fuels
Personal Products|Fast Moving Consumer Goods
Petroleum Products|Oil, Gas & Consumable Fuels
Pharmaceuticals & Biotechnology|Healthcare
Power|Power
Realty|Realty
Retailing|Consumer Services
Telecom - Services|Telecommunication
Textiles & Apparels|Textiles
Transport Infrastructure|Services
Transport Services|Services
"""
_SECTORS = dict(line.split("|") for line in _INDUSTRIES.splitlines())
_SECTOR_CODES = {name: f"{n:08d}" for n, name in enumerate(sorted(set(_SECTORS.values())), 1)}
_INDUSTRY_CODES = {name: f"{n:08d}" for n, name in enumerate(sorted(_SECTORS), 101)}
_LARGE, _MID = 105_000, 34_000  # crores


class Company(NamedTuple):
    """A listed company; `nse` or `bse` is empty if it is not listed there. Money is in paise."""

    code: int
    nse: str
    bse: str
    isin: str
    name: str
    industry: str
    price: int
    crores: float


@lru_cache(maxsize=1)
def companies() -> tuple[Company, ...]:
    """Returns all companies, the largest market capitalization first."""
    found = []
    for place, line in enumerate(COMPANIES.splitlines()):
        nse, bse, isin, name, industry, price, crores = line.split("|")
        code, paise = 100 + 13 * place, round(float(price) * 100)
        found.append(Company(code, nse, bse, isin, name, industry, paise, float(crores)))
    return tuple(sorted(found, key=lambda company: -company.crores))


def short_name(name: str) -> str:
    """Returns a company's name without common suffixes."""
    return name.removesuffix(" Ltd").replace(" (India)", "").replace(" Company", "")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encode(value: object) -> bytes:
    """Encodes a value as JSON: UTF-8, without spaces."""
    return _ENCODER.encode(value).encode()


def search(query: str, page: int, limit: int) -> bytes:
    """Returns a page of at most `limit` records, counted from 1; `[]` beyond the last.

    An exact NSE symbol or BSE code comes first, then the others by market capitalization.
    """
    wanted = query.strip().casefold()
    hits: list[tuple[bool, Company]] = []
    for company in companies():
        codes = company.nse.casefold(), company.bse
        if any(wanted in text for text in (*codes, company.name.casefold())):
            hits.append((wanted not in codes, company))
    hits.sort(key=lambda hit: hit[0])
    return encode([_record(company) for _, company in hits[(page - 1) * limit : page * limit]])


def _record(company: Company) -> dict[str, object]:
    """Returns an element of a search result."""
    size = company.crores
    return {
        "type": "STK",
        "co_code": company.code,
        "bsecode": company.bse,
        "nsesymbol": company.nse,
        "companyname": company.name,
        "companyshortname": short_name(company.name),
        "categoryname": "Company",
        "isin": company.isin,
        "bsegroup": "A" if company.bse else "",
        "mcap": size,
        "mcaptype": "Large Cap" if size > _LARGE else "Mid Cap" if size > _MID else "Small Cap",
        "displaytype": company.industry,
        "sectorcode": _SECTOR_CODES[_SECTORS[company.industry]],
        "sectorname": _SECTORS[company.industry],
        "industrycode": _INDUSTRY_CODES[company.industry],
        "industryname": company.industry,
        "bselistedflag": "Y" if company.bse else "N",
        "nselistedflag": "Y" if company.nse else "N",
        "BSEStatus": "Active" if company.bse else "",
        "NSEStatus": "Active" if company.nse else "",
    }
